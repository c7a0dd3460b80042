import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import { textsOf } from "../../simulator/fake-kubernetes/objects.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { NodesOnFakeServer } from "./nodes-on-fake-server.ts";

const { annotation, poolLabel, registeredLabel } = Karpenter.v1;
const names = ["a", "b", "c", "d", "e"];

describe("what is reported and counted for nodes", () => {
  let world: NodesOnFakeServer;
  beforeEach(async () => {
    world = await NodesOnFakeServer.open();
  });
  afterEach(() => world.close());

  const mark = () => world.nodes.mark({ scope: wholeCluster, holdId: holdId(1) }, world.soon());
  const release = () => world.nodes.release(holdId(1), world.soon());
  const labelled = (id: string) =>
    world.standIn
      .nodes()
      .filter(({ metadata }) => textsOf(metadata.labels)[holdLabel] === id)
      .map(({ metadata }) => metadata.name);

  it("adopts older marks alone, and counts what it holds and what its users hold", async () => {
    world.add("free", "older", "younger", "users");
    world.standIn.editNode("users", { annotations: { [annotation]: "true" } });
    for (const [name, id] of [
      ["older", holdId(0)],
      ["younger", holdId(2)],
    ] as const)
      world.standIn.editNode(name, { labels: { [holdLabel]: id }, annotations: { [annotation]: "true" } });

    await mark();

    expect(labelled(holdId(1)).toSorted()).toEqual(["free", "older"]);
    expect(labelled(holdId(2))).toEqual(["younger"]);
    expect(world.metrics.total("NodesHeld")).toBe(2);
    expect(world.metrics.total("NodesUserHeld")).toBe(1);
  });

  it("releases all marks of some holds in one pass, and counts them", async () => {
    world.add(...names);
    await mark();
    world.standIn.editNode("c", { labels: { [holdLabel]: holdId(2) } });
    world.standIn.fail({ kind: "status", status: 400 }, { method: "PATCH", path: "/api/v1/nodes/b" }, 99);
    world.asked.length = 0;

    const result = await world.nodes.releaseAll(new Set([holdId(1)]), world.soon());

    expect(result).toEqual({
      released: new Map([[holdId(1), { released: 3, kept: 0, failed: 1, left: false }]]),
      others: new Map([[holdId(2), 1]]),
      left: false,
    });
    expect(world.metrics.total("NodesReleased")).toBe(3);
    expect(world.metrics.total("NodePatchFailures")).toBe(1);
    for (const { accept } of world.asked) expect(accept).toContain("as=PartialObjectMetadata");
  });

  it("counts what it releases", async () => {
    world.add(...names);
    await mark();
    await release();
    expect(world.metrics.total("NodesReleased")).toBe(5);
  });

  it("does not return a node that is removed before it is read", async () => {
    const beforeRead = () => {
      world.onRequest = ({ path }) => {
        if (path === "/api/v1/nodes/a") world.standIn.removeNode("a");
      };
    };
    world.add("a");
    beforeRead();
    expect(await world.nodes.joinedSince(new Date(0), "all", world.soon())).toEqual([]);

    world.onRequest = () => {};
    world.add("a");
    world.standIn.editNode("a", { annotations: { [annotation]: "true" } });
    beforeRead();
    expect(await mark()).toMatchObject({ userHeld: 1, seen: [] });
    expect(world.log.lines).toEqual([]);
  });

  it("counts a node as joined after a moment, and not in it", async () => {
    const joinedAt = new Date(Math.floor(Date.now() / 1_000) * 1_000);
    const labels = { [poolLabel]: "default", [registeredLabel]: "true" };
    world.standIn.addNode({ name: "a", labels, joinedAt });
    for (const [since, expected] of [
      [joinedAt, 0],
      [new Date(joinedAt.getTime() - 1), 1],
    ] as const) {
      expect(await world.nodes.joinedSince(since, "all", world.soon())).toHaveLength(expected);
      expect(await world.nodes.hasJoined(wholeCluster, since, world.soon())).toBe(expected === 1);
    }
  });
});
