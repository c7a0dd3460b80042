import { describe, expect, it, vi } from "vitest";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import { type HoldEvent, withChange } from "../../lambda/core/events.ts";
import type { MetricName } from "../../lambda/core/metrics.ts";
import { nothingChanged } from "../../lambda/core/plan-nodes.ts";
import type { Launch } from "../../lambda/core/ports.ts";
import { reconcile } from "../../lambda/core/reconcile.ts";
import type { HoldChange, ScopeRecord } from "../../lambda/core/record.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { aHeldRecord, aQuiet, aRecord } from "../support/builders.ts";
import { coreWorld } from "../support/core-world.ts";
import { at, launchAt } from "./plans.ts";

/** A world with one node, in which launches are only reported. */
function aWorld(records: readonly ScopeRecord[] = []) {
  const it = coreWorld({ records });
  const { world, context, metrics } = it;
  world.nodes.add("a");
  const pass = (minute: number, launches: readonly Launch[] = [], isSweep = false) => {
    world.time = at(minute);
    return reconcile(context(), "cluster", { launches, isSweep });
  };
  const counts = (...names: MetricName[]) =>
    Object.fromEntries(names.map((name) => [name, metrics.total(name)]));
  const claim = (minute: number) =>
    world.nodeClaims.add({ name: `i-${minute}`, instance: `i-${minute}`, createdAt: at(minute) });
  return { ...it, pass, counts, claim };
}

describe("the metrics of launches", () => {
  it("name holds that start, are extended and reach their cap", async () => {
    const { pass, counts, world } = aWorld();
    world.deploy({ maxHold: minutes(30) });
    for (const minute of [0, 5, 15, 20]) await pass(minute, [launchAt(minute)]);
    expect(counts("HoldsStarted", "HoldsExtended", "HoldsCapped")).toEqual({
      HoldsStarted: 1,
      HoldsExtended: 2,
      HoldsCapped: 1,
    });
  });

  it("count those in vain that came in a breather or too late, and no duplicates", async () => {
    const { pass, counts } = aWorld([aRecord({ quiet: aQuiet("breather") })]);
    await pass(5, [launchAt(4), launchAt(5)]);
    await pass(6, [launchAt(4), launchAt(5)]);
    expect(counts("LaunchesIgnored")).toEqual({ LaunchesIgnored: 2 });
    await pass(30, [launchAt(8)]);
    expect(counts("LaunchesIgnored", "HoldsStarted")).toEqual({ LaunchesIgnored: 3, HoldsStarted: 0 });
  });

  it("count no launch in vain that a NodeClaim had shown before its event came", async () => {
    const { pass, counts, claim } = aWorld();
    claim(0);
    await pass(1, [launchAt(1)]);
    await pass(1, [launchAt(0)]);
    expect(counts("LaunchesIgnored", "MissedLaunches")).toEqual({ LaunchesIgnored: 0, MissedLaunches: 0 });
  });

  it("count launches whose event did not come within minutes", async () => {
    const { pass, counts, claim, world } = aWorld();
    for (const minute of [0, 1, 2]) claim(minute);
    await pass(3.5, [], true);
    expect(counts("MissedLaunches")).toEqual({ MissedLaunches: 2 });
    expect(world.log.reported("launches were missed")).toEqual([
      { scope: "cluster", instances: ["i-0", "i-1"] },
    ]);
    await pass(5, [], true);
    expect(counts("MissedLaunches")).toEqual({ MissedLaunches: 2 });
  });

  it("miss none of those that hold nothing", async () => {
    const { pass, counts, claim } = aWorld([aRecord({ quiet: aQuiet("paused") })]);
    claim(0);
    await pass(5, [], true);
    expect(counts("MissedLaunches", "HoldsStarted")).toEqual({ MissedLaunches: 0, HoldsStarted: 0 });
  });

  it("measure how long the first launch of a hold waited for its marks, once they are all there", async () => {
    const { pass, metrics, world } = aWorld();
    world.refuses = (call) => call === "patch a";
    await pass(0.1, [launchAt(0)]);
    expect(metrics.all("LaunchToProtectedMs")).toEqual([]);
    const other = aWorld();
    await other.pass(0.1, [launchAt(0), launchAt(0.05)]);
    await other.pass(1, [launchAt(1)]);
    expect(other.metrics.all("LaunchToProtectedMs")).toEqual([seconds(6)]);
  });

  it("measure it also where there is no time for all of them: an alarm waits for it", async () => {
    const { context, metrics, world } = aWorld();
    world.time = at(2);
    const nodes = context().nodes;
    vi.spyOn(nodes, "change").mockResolvedValue({ ...nothingChanged, left: true });
    await reconcile({ ...context(), nodes }, "cluster", { launches: [launchAt(0)] });
    expect(metrics.all("LaunchToProtectedMs")).toEqual([minutes(2)]);
  });
});

describe("without NodeClaims", () => {
  it("the sweep takes a node that joined lately, and that no launch explains, for a launch", async () => {
    const { pass, counts, world } = aWorld();
    world.nodeClaims.refusedWith = 404;
    world.time = at(1);
    world.ec2.addNode("b", { age: 0 });
    await pass(2);
    expect(counts("HoldsStarted")).toEqual({ HoldsStarted: 0 });
    await pass(4, [], true);
    expect(counts("HoldsStarted", "MissedLaunches")).toEqual({ HoldsStarted: 1, MissedLaunches: 1 });
    expect(world.nodes.held()).toEqual(["a", "b"]);
  });

  it("an old node, and one whose launch was seen are none; one that an older hold has marked is one", async () => {
    const seenAt = (...minutes: number[]) =>
      aWorld([
        aHeldRecord({ seen: Object.fromEntries(minutes.map((minute) => [`i-${minute}`, at(minute)])) }),
      ]);
    const missed = async (
      { world, pass, counts }: ReturnType<typeof aWorld>,
      joined: Record<string, number>,
    ) => {
      world.nodeClaims.refusedWith = 404;
      for (const [name, minute] of Object.entries(joined)) {
        world.time = at(minute);
        world.ec2.addNode(name, { age: 0 });
      }
      if ("held" in joined) world.nodes.mark("held", holdId(1));
      await pass(0, [], true);
      return counts("MissedLaunches").MissedLaunches;
    };
    expect(await missed(seenAt(-9), { old: -6, explained: -2.5 })).toBe(0);
    expect(await missed(seenAt(-14, 0), { unexplained: -2.5 })).toBe(1);
    expect(await missed(seenAt(-14, 0), { held: -2.5 })).toBe(1);
  });

  it("a node that boots after a launch is none, also where the launch held nothing", async () => {
    const { pass, counts, world } = aWorld([aRecord({ quiet: aQuiet("breather", { until: at(1) }) })]);
    world.nodeClaims.refusedWith = 404;
    await pass(0.5, [launchAt(0.5)]);
    world.time = at(2);
    world.ec2.addNode("b", { age: 0 });
    await pass(4, [], true);
    expect(counts("HoldsStarted", "MissedLaunches")).toEqual({ HoldsStarted: 0, MissedLaunches: 0 });
  });
});

it("a pass logs what it planned and changed; a sweep that finds nothing to do says nothing", async () => {
  const { pass, world } = aWorld();
  await pass(0, [launchAt(0)]);
  expect(world.log.reported("planned")).toMatchObject([{ until: at(20), launches: 1, steps: ["start"] }]);
  expect(world.log.reported("nodes changed")).toMatchObject([{ marked: 1 }]);
  await pass(1, [], true);
  expect([world.log.reported("planned").length, world.log.reported("nodes changed").length]).toEqual([1, 1]);
  await pass(2);
  expect(world.log.reported("planned")).toHaveLength(2);
  expect(world.metrics.all("LaunchesIgnored")).toEqual([]);
});

describe("the events of holds", () => {
  const namesOf = (changes: readonly HoldChange[]) =>
    changes.reduce(withChange, [] as readonly HoldEvent[]).map(({ type }) => type);

  it("are noted by the pass that wrote the change, and by no other", async () => {
    const { pass, world } = aWorld();
    const { write } = world.holds;
    world.holds.write = async (record) => {
      world.holds.write = write;
      await world.holds.put(aHeldRecord());
      return world.holds.write(record);
    };
    await pass(1, [launchAt(0)]);
    expect(namesOf(world.events.all)).toEqual([]);
  });

  it("come once each: a hold starts, is extended and ends", async () => {
    const { pass, world } = aWorld();
    for (const minute of [0, 5, 10]) await pass(minute, [launchAt(minute)]);
    await pass(30);
    await pass(31);
    expect(namesOf(world.events.all)).toEqual(["Hold Started", "Hold Extended", "Hold Ended"]);
  });
});
