import { expect, it } from "vitest";
import { after } from "../../lambda/core/duration.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import { NodeWatch, type WatchedNode } from "../../local/run/node-watch.ts";
import { WatchedLaunches } from "../../local/run/watched-launches.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { FakeCluster } from "../../simulator/fake-kubernetes/fake-cluster.ts";
import { noon } from "../../simulator/virtual-clock.ts";

const { poolLabel } = Karpenter.v1;

/** The launches that are seen as these nodes. */
function launchesOf(...nodes: readonly (Pick<WatchedNode, "name"> & Partial<WatchedNode>)[]) {
  const login = { access: () => Promise.reject(new Error("there is no server")), refresh: () => {} };
  const watch = new NodeWatch({
    ...{ api: new FakeCluster(), login, selector: "", clock: { now: () => noon }, log: new CollectedLog() },
    onChange: () => {},
  });
  for (const node of nodes)
    watch.nodes.set(node.name, { uid: node.name, instance: node.name, createdAt: noon, ...node });
  return new WatchedLaunches(watch, poolLabel);
}

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
