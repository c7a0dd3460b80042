import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { Scenario } from "../../simulator/scenario.ts";
import { noon } from "../../simulator/virtual-clock.ts";

function twoNodes(rules: ConstructorParameters<typeof Scenario>[0] = {}): Scenario {
  const world = new Scenario(rules);
  for (const name of ["a", "b"]) world.addNode(name);
  return world;
}

/** A cluster that is held, and whose release by force, invoked asynchronously, crashes; its calls up to then. */
async function crashedRelease(calls: number, payload: Readonly<{ askedAt?: string }> = {}) {
  const world = twoNodes();
  world.sweepEvery = undefined;
  world.launch();
  await world.pass(minutes(19));
  const made: string[] = [];
  world.watch = (_, call) => void (call !== "" && made.push(call));
  world.crash = { name: "release", calls };
  await world.run(world.release({ force: true, reason: "maintenance", ...payload }));
  world.watch = () => {};
  return { world, made };
}

const { made: releaseCalls } = await crashedRelease(100);
/** From which call on it is recorded. */
const recorded = releaseCalls.indexOf("write") + 1;
const upTo = releaseCalls.map((_, calls) => calls);

describe("a forced release that is retried after a crash", () => {
  it.each(upTo)("releases everything, without a sweep: after %i calls", async (calls) => {
    const { world } = await crashedRelease(calls);
    world.oneShots.armed.clear();
    await world.pass(seconds(61));
    expect([world.marks(), world.hold(), world.retries]).toEqual([{}, undefined, []]);
    expect(world.history()).toMatchObject([{ endedBecause: "released by hand: maintenance" }]);
  });

  const askedAt = after(noon, minutes(19)).toISOString();
  it.each([
    ...upTo.map((calls) => ["says when it was asked for", calls, { askedAt }] as const),
    ...upTo.filter((calls) => calls >= recorded).map((calls) => ["was recorded", calls, {}] as const),
  ])("and %s ends no hold that began since: after %i calls", async (_, calls, payload) => {
    const { world } = await crashedRelease(calls, payload);
    await world.pass(seconds(58));
    await world.control({ do: "release", reason: "by another person" });
    const atOnce = world.marks();
    await world.pass(seconds(1));
    world.launch({ joinsAfter: seconds(40) });
    await world.pass(0);
    const before = world.hold();
    expect(world.retries).toHaveLength(1);
    await world.pass(minutes(5));

    expect([atOnce, world.retries]).toEqual([{}, []]);
    expect(before?.ended).toBeUndefined();
    expect(world.hold()).toEqual(before);
    expect(world.heldNodes()).toEqual(["a", "b", "node-1", "node-2"]);
    expect(world.nodes.history("a")).toEqual([undefined, "true", undefined, "true"]);
  });
});

describe("a pause", () => {
  it("counts each launch that it ignores once, though an event, a NodeClaim and sweeps show it", async () => {
    const world = twoNodes();
    await world.control({ do: "pause", for: "1h", reason: "upgrade" });
    world.launch();
    await world.pass(minutes(45));
    expect(world.metrics.total("LaunchesIgnored")).toBe(1);
  });

  it.each(["cluster", "nodepool"] as const)(
    "holds again what requests outlive it, without a sweep: scope=%s",
    async (by) => {
      const world = twoNodes({ scope: by });
      world.addNode("other", { pool: "other" });
      world.sweepEvery = undefined;
      const scope = by === "cluster" ? by : "nodepool/default";
      await world.control({ do: "hold", for: "2h", scope });
      await world.pass(minutes(5));
      await world.control({ do: "pause", for: "1h", reason: "upgrade" });
      await world.pass(minutes(30));
      if (by === "nodepool")
        world.sendHold({ cause: "window", name: "morning", for: "1h", scope: "nodepool/other" });
      await world.pass(minutes(29));
      const before = world.heldNodes();
      await world.pass(minutes(2));
      expect([before, world.heldNodes()]).toEqual([[], ["a", "b", "other"]]);
      expect(world.oneShots.fired.size).toBeLessThan(8);
      await world.pass(minutes(60));
      expect([world.heldNodes(), world.oneShots.armed.size]).toEqual([[], 0]);
    },
  );

  it("sets no one-shot for requests that end before it", async () => {
    const world = twoNodes();
    await world.control({ do: "hold", for: "30m" });
    await world.control({ do: "pause", for: "1h", reason: "upgrade" });
    await world.pass(minutes(40));
    expect(world.oneShots.armed.size).toBe(0);
  });
});
