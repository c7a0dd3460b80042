import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { Scenario } from "../../simulator/scenario.ts";
import { noon } from "../../simulator/virtual-clock.ts";

const at = (minute: number) => after(noon, minutes(minute));

function twoNodes(rules: ConstructorParameters<typeof Scenario>[0] = {}): Scenario {
  const world = new Scenario(rules);
  world.addNode("a");
  world.addNode("b", { pool: "batch" });
  return world;
}

describe("a release by force", () => {
  it("releases at once and returns the number of nodes; neither late events nor the sweep restart the hold", async () => {
    const world = twoNodes();
    const launch = world.launch({ joinsAfter: minutes(4) });
    world.launch({ joinsAfter: minutes(4), eventAfter: minutes(6) });
    await world.pass(minutes(3));

    const answer = await world.releaseByHand({ force: true, reason: "maintenance" });
    const atOnce = world.marks();
    world.sendEvent(launch);
    await world.pass(minutes(30));

    expect(answer).toMatchObject({
      released: 2,
      kept: 0,
      failed: 0,
      because: "released by hand: maintenance",
    });
    expect(atOnce).toEqual({});
    expect([world.marks(), world.hold(), world.history().length]).toEqual([{}, undefined, 1]);
  });

  const cases = [
    ...[0, 2, 4, 6].map((calls) => ["carries its request time", calls, true] as const),
    ...[3, 5, 7].map((calls) => ["was recorded", calls, false] as const),
  ];
  it.each(cases)(
    "that %s ends no hold that started before its retry: crash before call %i",
    async (_, calls, saysWhen) => {
      const world = twoNodes();
      world.sweepEvery = undefined;
      world.launch();
      await world.pass(minutes(19));
      world.crash = { name: "release", calls };

      const askedAt = world.time.toISOString();
      await world.run(world.release({ force: true, ...(saysWhen && { askedAt }) }));
      await world.pass(seconds(59));
      await world.control({ do: "release" });
      world.launch();
      await world.pass(minutes(5));

      expect(world.retries).toEqual([]);
      expect(world.hold()?.id).toBe(holdId(2));
      expect(world.heldNodes()).toEqual(["a", "b", "node-1", "node-2"]);
    },
  );
});

describe("a pause", () => {
  it.each(["cluster", "nodepool"] as const)(
    "releases, and nothing holds until it ends: scope %s",
    async (scope) => {
      const world = twoNodes({ scope });
      world.launch();
      await world.pass(minutes(2));

      const answer = await world.control({ do: "pause", for: "1h", reason: "upgrade" });
      const atOnce = world.marks();
      for (let n = 0; n < 11; n++) {
        world.launch({ pool: n % 2 ? "batch" : "new" });
        await world.pass(minutes(5));
        expect(world.marks()).toEqual({});
      }
      await world.pass(minutes(5));
      world.launch();
      await world.pass(minutes(2));

      expect(answer).toMatchObject({ released: 2 + (scope === "cluster" ? 1 : 0), until: at(62) });
      expect(atOnce).toEqual({});
      expect(world.heldNodes()).toContain("a");
    },
  );
});
