import { expect, it } from "vitest";
import { after, minutes } from "../../lambda/core/duration.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import type { NodeClaims } from "../../lambda/core/ports.ts";
import { NodeWatch, type WatchedNode } from "../../local/run/node-watch.ts";
import { WatchedLaunches } from "../../local/run/watched-launches.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { FakeCluster } from "../../simulator/fake-kubernetes/fake-cluster.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { aClaim } from "../support/builders.ts";
import { until } from "../support/context.ts";

const { poolLabel } = Karpenter.v1;

/** The launches that are seen as these nodes. */
function launchesOf(
  nodes: readonly (Pick<WatchedNode, "name"> & Partial<WatchedNode>)[],
  list: NodeClaims["list"] = async () => [],
) {
  const clock = { now: () => noon };
  const login = { access: () => Promise.reject(new Error("there is no server")), refresh: () => {} };
  const watch = new NodeWatch({
    ...{ api: new FakeCluster(), login, selector: "", clock, log: new CollectedLog() },
    onChange: () => {},
  });
  for (const node of nodes)
    watch.nodes.set(node.name, { uid: node.name, instance: node.name, createdAt: noon, ...node });
  return new WatchedLaunches({ watch, nodeClaims: { list }, clock, poolLabel });
}

const context = until(after(noon, minutes(1)), new CollectedLog());

it("finds launches by their nodes: those asked for, and those since a moment", async () => {
  const [createdAt, before] = [noon, after(noon, -1)];
  const launches = launchesOf([
    { name: "a", createdAt, labels: { [poolLabel]: "web" } },
    { name: "b", createdAt: before, labels: {} },
    { name: "c", createdAt: before },
  ]);
  expect([...(await launches.find(["a", "b", "gone"], context)).values()]).toEqual([
    { id: "a", launchedAt: createdAt, nodePool: "web" },
    { id: "b", launchedAt: before, nodePool: "" },
  ]);
  expect(await launches.since(noon)).toEqual([{ instance: "a", launchedAt: createdAt, nodePool: "web" }]);
});

it("dates a launch by its NodeClaim, because its node joins later, and else by its node", async () => {
  const createdAt = after(noon, -minutes(1));
  const lists: readonly NodeClaims["list"][] = [
    async () => [aClaim("a", { instance: "a", createdAt })],
    async () => ({ unavailable: "the cluster has no NodeClaims" }),
    () => Promise.reject(new Error("it does not answer")),
  ];
  const found = lists.map(async (list) =>
    (await launchesOf([{ name: "a" }], list).find(["a"], context)).get("a"),
  );
  const dates = (await Promise.all(found)).map((one) => one?.launchedAt);
  expect(dates).toEqual([createdAt, noon, noon]);
});
