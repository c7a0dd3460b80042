import { describe, expect, it } from "vitest";
import { hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { Scenario } from "../../simulator/scenario.ts";

const owner = { apiVersion: "apps/v1", kind: "ReplicaSet" };

/** Two old nodes, and a third that is launched; the pod on the first may not be moved. */
function aLaunchBesideWork(): Scenario {
  const world = new Scenario({ auto: true });
  for (const name of ["a", "b"]) world.addNode(name);
  const annotations = { "karpenter.sh/do-not-disrupt": "true" };
  world.cluster.pods.add({ name: "work", node: "a", owner, annotations });
  world.launch();
  return world;
}

/** The nodes that no longer pay, as status shows them. */
async function goes(world: Scenario): Promise<unknown> {
  const { scopes } = JSON.parse(JSON.stringify(await world.control({ do: "status" })));
  return scopes[0].goes;
}

it("with hold=auto, empty nodes are let go, a new one after two minutes, and all others two hours after the launch", async () => {
  const world = aLaunchBesideWork();

  await world.pass(minutes(1));
  expect(world.heldNodes()).toEqual(["a", "node-1"]);
  await world.pass(minutes(3));
  expect(world.heldNodes()).toEqual(["a"]);
  await world.pass(hours(2));
  expect([world.marks(), world.history().length]).toEqual([{}, 1]);
});

it("a node that runs a Job at the end of a hold stays until the Job is done, and no other does", async () => {
  const world = aLaunchBesideWork();
  world.cluster.pods.add({ name: "job", node: "b", owner: { apiVersion: "batch/v1", kind: "Job" } });

  await world.pass(hours(2) + minutes(2));
  expect(world.heldNodes()).toEqual(["b"]);
  const { scopes } = JSON.parse(JSON.stringify(await world.control({ do: "status" })));
  expect(scopes[0]).toMatchObject({
    because: expect.stringMatching(/^over, but nodes that run Jobs stay held; 1 launch/),
  });
  await world.pass(hours(5));
  expect(world.heldNodes()).toEqual(["b"]);
  world.cluster.pods.remove("job");
  await world.pass(minutes(2));
  expect([world.marks(), world.history().length]).toEqual([{}, 1]);
});

it("a sweep that finds a launch while a Job is waited for lets nodes go that no longer pay, and marks none of them", async () => {
  const world = aLaunchBesideWork();
  world.cluster.pods.add({ name: "job", node: "b", owner: { apiVersion: "batch/v1", kind: "Job" } });
  await world.pass(hours(2) + minutes(2));
  world.launch({ eventAfter: null });
  await world.finish(await world.sweep());

  expect(world.heldNodes()).toEqual(["a", "b"]);
});

it("status names the nodes that no longer pay, and metrics count them and their time", async () => {
  const world = aLaunchBesideWork();
  world.cluster.pods.add({ name: "web", node: "b", owner });

  await world.pass(minutes(1));
  const dueAt = expect.stringMatching(/^2026-/);
  const because = expect.stringMatching(
    /^superfluous for .*; its removal is worth 3m: 1 pod; a relaunch is not waited for/,
  );
  expect(await goes(world)).toContainEqual({ name: "b", isLetGo: false, dueAt, because });
  expect(world.metrics.total("NodesLetGo")).toBe(0);
  await world.pass(minutes(6));
  expect(await goes(world)).toContainEqual({ name: "b", isLetGo: true, because });
  expect(world.metrics.total("NodesLetGo")).toBe(2);
  // Until the new one was superfluous, too, which goes at once; then for as long as the removal of the other is worth.
  expect(world.metrics.total("SuperfluousMs")).toBe(minutes(2) + minutes(3));
  await world.control({ do: "hold", for: "1h", reason: "freeze" });
  expect(await goes(world)).toEqual([]);
});

it("metrics count a superfluous node that is needed again, and its pods, which would have been evicted", async () => {
  const world = aLaunchBesideWork();
  for (const name of ["web-1", "web-2"]) world.cluster.pods.add({ name, node: "b", owner });
  await world.pass(minutes(1));
  const spared = () => (["NodesSpared", "EvictionsSpared"] as const).map((name) => world.metrics.total(name));
  expect(spared()).toEqual([0, 0]);
  // Each fills a node.
  for (const node of ["a", "b", "node-1"])
    world.cluster.pods.add({ name: `large-${node}`, node, owner, cpu: 7_900 });
  await world.pass(minutes(2));
  expect(spared()).toEqual([1, 2]);
});

it("a node that was launched is marked, though others have been superfluous for long", async () => {
  const world = aLaunchBesideWork();
  world.addNode("c");
  for (const name of ["1", "2", "3", "4"]) world.cluster.pods.add({ name, node: "c", owner });
  await world.pass(minutes(7));
  world.launch({ joinsAfter: 0 });
  await world.pass(minutes(1.5));

  expect(world.heldNodes()).toEqual(["a", "c", "node-2"]);
});

it.each(["claims", "pods"])("a failure to read the %s ends no hold", async (what) => {
  const world = aLaunchBesideWork();
  await world.pass(minutes(30));
  world.refuses = (call) => call === what;
  await world.pass(minutes(10));

  expect(world.heldNodes()).toEqual(["a", "b", "node-1"]);
});

describe.each(["claims", "pods", "budgets"])("a list of %s that is never answered", (what) => {
  it("keeps no launch from being held, and no request and no person from releasing", async () => {
    const world = new Scenario({ auto: true });
    for (const name of ["a", "b"]) world.addNode(name);
    world.hangs = (call) => call === what;
    world.launch();
    await world.pass(minutes(2));
    expect(world.heldNodes()).toEqual(["a", "b", "node-1"]);
    await world.releaseByHand({ force: true });
    expect(world.heldNodes()).toEqual([]);
  });

  it("keeps no request from ending", async () => {
    const world = new Scenario({ auto: true });
    world.addNode("a");
    await world.control({ do: "hold", for: "10m", reason: "freeze" });
    world.hangs = (call) => call === what;
    await world.pass(minutes(12));
    expect(world.heldNodes()).toEqual([]);
  });
});

it("without the right to list pods, each launch holds for 20 minutes", async () => {
  const world = aLaunchBesideWork();
  world.cluster.pods.isRefused = true;

  await world.pass(minutes(19));
  expect(world.heldNodes()).toEqual(["a", "b", "node-1"]);
  const limits = [expect.stringMatching(/may not list pods .* hold=auto holds like a constant hold/)];
  expect(await world.control({ do: "status" })).toMatchObject({ rules: { auto: false }, limits });
  expect(world.metrics.total("RightsMissing")).toBeGreaterThan(0);
  await world.pass(minutes(3));
  expect(world.marks()).toEqual({});
});

it.each([0, 15, 30, 45])(
  "a node that was let go is marked again soon after a Job has come, %i s after a minute",
  async (late) => {
    const world = aLaunchBesideWork();
    await world.pass(minutes(7) + seconds(late));
    expect(world.heldNodes()).toEqual(["a"]);
    world.cluster.pods.add({ name: "job", node: "b", owner: { apiVersion: "batch/v1", kind: "Job" } });

    await world.pass(seconds(25));
    expect(world.heldNodes()).toEqual(["a", "b"]);
  },
);
