import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { Scenario } from "../../simulator/scenario.ts";
import { noon } from "../../simulator/virtual-clock.ts";

const at = (minute: number) => after(noon, minutes(minute));

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

describe("a steady stream of launches", () => {
  it.each([
    ["that join", { joinsAfter: seconds(20) }],
    ["of instances that never join, perhaps forged,", { joinsAfter: null }],
  ])(
    "%s reaches its cap after two hours, holds nothing in the breather, and then holds again",
    async (_, launch) => {
      const world = twoNodes();
      const held: number[] = [];
      for (let minute = 1; minute <= 150; minute++) {
        if (minute % 5 === 1) world.launch(launch);
        await world.pass(minutes(1));
        held.push(world.heldNodes().length);
      }

      const nothing = held.flatMap((count, minute) => (count === 0 ? [minute + 1] : []));
      expect(nothing).toEqual([120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130]);
      expect(world.history()).toMatchObject([
        { endedBecause: "launches have held for as long as maxHold allows", capped: true },
      ]);
      expect(world.metrics.total("HoldsCapped")).toBe(1);
      expect(world.hold()).toMatchObject({ startedAt: at(130) });
    },
  );
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
