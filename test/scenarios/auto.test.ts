import { expect, it } from "vitest";
import { hours, minutes } from "../../lambda/core/duration.ts";
import { Scenario } from "../../simulator/scenario.ts";

/** Two old nodes, and a third that is launched; the pod on the first may not be moved. */
function aLaunchBesideWork(): Scenario {
  const world = new Scenario({ auto: true });
  for (const name of ["a", "b"]) world.addNode(name);
  const annotations = { "karpenter.sh/do-not-disrupt": "true" };
  world.cluster.pods.add({ name: "work", node: "a", annotations });
  world.launch();
  return world;
}

it("with hold=auto, empty nodes are let go after the time of a relaunch, and all others two hours after the launch", async () => {
  const world = aLaunchBesideWork();

  await world.pass(minutes(4));
  expect(world.heldNodes()).toEqual(["a", "b", "node-1"]);
  await world.pass(minutes(3));
  expect(world.heldNodes()).toEqual(["a"]);
  await world.pass(hours(2));
  expect([world.marks(), world.history().length]).toEqual([{}, 1]);
});

it("a node that nobody takes in ten minutes is marked again", async () => {
  const world = aLaunchBesideWork();

  await world.pass(minutes(20));
  expect(world.heldNodes()).toEqual(["a", "b", "node-1"]);
});

it.each(["claims", "pods"])("a failure to read the %s ends no hold", async (what) => {
  const world = aLaunchBesideWork();
  await world.pass(minutes(30));
  world.refuses = (call) => call === what;
  await world.pass(minutes(10));

  expect(world.heldNodes()).toEqual(["a", "b", "node-1"]);
});

it("without the right to list pods, each launch holds for 20 minutes", async () => {
  const world = aLaunchBesideWork();
  world.cluster.pods.isRefused = true;

  await world.pass(minutes(19));
  expect(world.heldNodes()).toEqual(["a", "b", "node-1"]);
  await world.pass(minutes(3));
  expect(world.marks()).toEqual({});
});
