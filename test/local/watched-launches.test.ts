import { expect, it } from "vitest";
import { after, seconds } from "../../lambda/core/duration.ts";
import { holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import type { FollowUp } from "../../lambda/core/ports.ts";
import { NodeWatch, type WatchedNode } from "../../local/run/node-watch.ts";
import { WatchedLaunches } from "../../local/run/watched-launches.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { FakeCluster } from "../../simulator/fake-kubernetes/fake-cluster.ts";
import { noon } from "../../simulator/virtual-clock.ts";

const { annotation, poolLabel } = Karpenter.v1;
const launch = (instance: string) => ({ instance, launchedAt: noon });

/** The launches that are seen as these nodes. */
function launchesOf(...nodes: readonly (Pick<WatchedNode, "name"> & Partial<WatchedNode>)[]) {
  const login = { access: () => Promise.reject(new Error("there is no server")), refresh: () => {} };
  const watch = new NodeWatch({
    ...{ api: new FakeCluster(), login, selector: "", clock: { now: () => noon }, log: new CollectedLog() },
    onChange: () => {},
  });
  for (const node of nodes)
    watch.nodes.set(node.name, { uid: node.name, instance: node.name, createdAt: noon, ...node });
  return new WatchedLaunches(watch, { annotation, poolLabel });
}

/** What is queued for a follow-up that the core delays by 15 seconds, while nodes a (free), b and c (marked) exist. */
async function queued(followUp: FollowUp) {
  const b = { name: "b", labels: { [holdLabel]: "h" } };
  const c = { name: "c", annotations: { [annotation]: "true" } };
  const sent: unknown[] = [];
  const queue = { enqueue: async (one: FollowUp, delay: number) => void sent.push([one, delay]) };
  await launchesOf({ name: "a" }, b, c).withoutDelay(queue).enqueue(followUp, seconds(15));
  return sent;
}
const pending = (attempt: number, ...awaited: string[]): FollowUp => ({
  ...{ kind: "pendingNodes", scope: "cluster", attempt },
  awaited: awaited.map(launch),
});

it("finds launches by their nodes: those asked for, and those since a moment", async () => {
  const [createdAt, before] = [noon, after(noon, -1)];
  const launches = launchesOf(
    { name: "a", createdAt, labels: { [poolLabel]: "web" } },
    { name: "b", createdAt: before, labels: {} },
    { name: "c", createdAt: before },
  );
  expect([...(await launches.find(["a", "b", "gone"])).values()]).toEqual([
    { id: "a", launchedAt: createdAt, nodePool: "web" },
    { id: "b", launchedAt: before, nodePool: "" },
  ]);
  expect(await launches.since(noon)).toEqual([{ instance: "a", launchedAt: createdAt, nodePool: "web" }]);
});

it("marks a node for the first time at once, because it exists already", async () => {
  expect(await queued(pending(0, "a"))).toEqual([[pending(0, "a"), 0]]);
});

it("repeats a marking when the core says: the API server may have asked for time", async () => {
  expect(await queued(pending(1, "a"))).toEqual([[pending(1, "a"), seconds(15)]]);
});

it("awaits no node that is gone or marked, and still repeats what was not finished", async () => {
  expect(await queued(pending(2, "a", "b", "c", "gone"))).toEqual([[pending(2, "a"), seconds(15)]]);
  expect(await queued(pending(2))).toEqual([[pending(2), seconds(15)]]);
});

it("leaves every other follow-up as it is", async () => {
  const other: FollowUp = { kind: "launches", launches: [launch("gone")], firstSeenAt: noon, attempt: 0 };
  expect(await queued(other)).toEqual([[other, seconds(15)]]);
});
