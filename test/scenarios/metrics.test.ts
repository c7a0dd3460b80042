import { expect, it } from "vitest";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import type { MetricName } from "../../lambda/core/metrics.ts";
import { Scenario } from "../../simulator/scenario.ts";

const countedBy = (world: Scenario, ...names: MetricName[]) => names.map((name) => world.metrics.total(name));
const holds = ["HoldsStarted", "HoldsExtended", "HoldsCapped"] as const;

it("each launch counts once, and as the hold that it starts or extends", async () => {
  const world = new Scenario();
  world.launch();
  await world.pass(minutes(1));
  expect(countedBy(world, "LaunchesSeen", "LaunchesIgnored", ...holds)).toEqual([1, 0, 1, 0, 0]);
  world.launch();
  await world.pass(minutes(1));
  expect(countedBy(world, "LaunchesSeen", "LaunchesIgnored", ...holds)).toEqual([2, 0, 1, 1, 0]);
});

it("a launch that meets the cap counts as capped, and not as extended", async () => {
  const world = new Scenario({ maxHold: minutes(30) });
  world.launch();
  await world.pass(minutes(15));
  world.launch();
  await world.pass(minutes(1));
  expect(countedBy(world, ...holds)).toEqual([1, 0, 1]);
});

it("launches of others and of NodePools that are left out count as ignored, each with its reason", async () => {
  const world = new Scenario({ nodePools: { only: [], except: ["system"] } });
  world.launch({ pool: null });
  world.launch({ pool: "system" });
  await world.pass(minutes(1));
  expect(countedBy(world, "LaunchesSeen", "LaunchesIgnored", ...holds)).toEqual([2, 2, 0, 0, 0]);
  expect(world.log.reported("launch decided").map(({ because }) => because)).toEqual([
    "it is not a node of this cluster's Karpenter",
    "NodePool system is left out by the settings, or none can have this name",
  ]);
});

it("an instance that the cloud does not know is given up ten minutes after the initial delay", async () => {
  const world = new Scenario({ initialDelay: minutes(5) });
  world.sweepEvery = undefined;
  world.launch({ knownAfter: minutes(60) });
  await world.pass(minutes(14));
  expect(countedBy(world, "LaunchesIgnored")).toEqual([0]);
  await world.pass(minutes(3));
  expect(countedBy(world, "LaunchesIgnored", "LaunchesSeen")).toEqual([1, 1]);
  expect(world.queue.messages).toEqual([]);
});

it("a hold that closes reports how late it was", async () => {
  const world = new Scenario();
  world.sweepEvery = undefined;
  world.launch();
  await world.pass(minutes(19));
  world.clock.pass(minutes(2));
  await world.pass(seconds(90));
  const [lag = 0, ...more] = world.metrics.all("ReleaseLagMs");
  expect(more).toEqual([]);
  expect(lag).toBeGreaterThanOrEqual(minutes(1));
  expect(lag).toBeLessThan(minutes(2));
});
