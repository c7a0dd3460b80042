import { describe, expect, it } from "vitest";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import { Scenario } from "../../simulator/scenario.ts";
import { noon } from "../../simulator/virtual-clock.ts";

/** A world with two old nodes, whose NodeClaims are a day old. */
function twoNodes(rules: ConstructorParameters<typeof Scenario>[0] = {}): Scenario {
  const world = new Scenario(rules);
  for (const name of ["a", "b"]) world.addNode(name);
  return world;
}

describe("a burst", () => {
  it("is held from its first launch until 20 minutes after its last, the nodes that join, too", async () => {
    const world = twoNodes();

    world.launch();
    await world.pass(seconds(1));
    const atOnce = world.heldNodes();
    await world.pass(minutes(10));
    for (let n = 0; n < 3; n++) world.launch();
    await world.pass(minutes(2));
    const allJoined = world.heldNodes();
    await world.pass(minutes(17));
    const nearTheEnd = world.heldNodes();
    await world.pass(minutes(2));

    expect(atOnce).toEqual(["a", "b"]);
    expect(allJoined).toEqual(["a", "b", "node-1", "node-2", "node-3", "node-4"]);
    expect(nearTheEnd).toEqual(allJoined);
    expect(world.marks()).toEqual({});
    expect(world.history()).toMatchObject([
      {
        ...{ startedAt: noon, startedBecause: "a node was launched in NodePool default" },
        ...{ launches: { default: 4 }, extensions: 1, nodes: 6, capped: false },
        endedBecause: "the hold expired",
      },
    ]);
    expect(world.queue.messages).toEqual([]);
  });
});

describe("two NodePools with scope=nodepool", () => {
  it("are held and released apart from each other", async () => {
    const world = new Scenario({ scope: "nodepool" });
    world.addNode("a", { pool: "web" });
    world.addNode("b", { pool: "batch" });

    world.launch({ pool: "web" });
    await world.pass(minutes(10));
    const web = world.heldNodes();
    world.launch({ pool: "batch" });
    await world.pass(minutes(5));
    const both = world.heldNodes();
    await world.pass(minutes(6));
    const batch = world.heldNodes();
    await world.pass(minutes(10));

    expect(web).toEqual(["a", "node-1"]);
    expect(both).toEqual(["a", "b", "node-1", "node-2"]);
    expect(batch).toEqual(["b", "node-2"]);
    expect([world.marks(), world.history().length]).toEqual([{}, 2]);
  });
});
