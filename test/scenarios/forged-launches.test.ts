import { describe, expect, it } from "vitest";
import { after, hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { Scenario } from "../../simulator/scenario.ts";

/** An instance with the tags of our Karpenter that never becomes a node, every few minutes. */
async function forge(world: Scenario, every: number, until: Date): Promise<number> {
  let held = 0;
  let minute = 0;
  for (; world.time < until; minute++) {
    if (minute % every === 0) world.launch({ joinsAfter: null });
    await world.pass(minutes(1));
    if (world.heldNodes().length > 0) held += 1;
  }
  return held;
}

describe("instances that are tagged like Karpenter's and never join", () => {
  it.each([
    [1, 3],
    [5, 8],
    [19, 8],
    [21, 8],
  ])("every %i minutes for %i hours hold nodes for half an hour at most", async (every, time) => {
    const world = new Scenario();
    world.addNode("a");

    expect(await forge(world, every, after(world.time, hours(time)))).toBeLessThanOrEqual(30);
    await world.pass(minutes(15));
    expect(world.queue.messages).toHaveLength(0);
  });

  it("extend a hold of real launches by ten minutes at most beyond the last node that joined", async () => {
    const world = new Scenario();
    world.addNode("a");
    world.launch({ joinsAfter: seconds(40) });
    await world.pass(minutes(1));

    expect(await forge(world, 1, after(world.time, hours(3)))).toBeLessThanOrEqual(31);
  });

  it("do not keep the next real launch from being held for", async () => {
    const world = new Scenario();
    world.addNode("a");
    await forge(world, 5, after(world.time, hours(2)));
    expect(world.heldNodes()).toEqual([]);

    const { node } = world.launch({ joinsAfter: seconds(40) });
    await world.pass(minutes(1));

    expect(world.heldNodes()).toEqual(["a", node]);
    await world.pass(minutes(18));
    expect(world.heldNodes()).toEqual(["a", node]);
  });
});

describe("launches that join", () => {
  it("extend a hold for hours", async () => {
    const world = new Scenario({ maxHold: 0 });
    world.addNode("a");
    for (let n = 0; n < 20; n++) {
      world.launch();
      await world.pass(minutes(12));
      expect(world.heldNodes()).toContain("a");
    }
  });

  it("count also when nothing noted that their nodes joined", async () => {
    const world = new Scenario({ maxHold: 0 });
    world.sweepEvery = undefined;
    world.launch({ pool: "own", node: { annotations: { "karpenter.sh/do-not-disrupt": "true" } } });
    await world.pass(minutes(15));

    world.launch({ joinsAfter: null });
    await world.pass(seconds(10));

    expect(world.hold()?.extensions).toBe(1);
  });

  it("count also while the API server cannot be asked whether their nodes joined", async () => {
    const world = new Scenario();
    world.launch();
    await world.pass(minutes(15));
    world.refuses = (call) => call === "list";

    world.launch();
    await world.pass(seconds(10));

    expect(world.hold()?.extensions).toBe(1);
  });

  it("count although a shorter hold ended before their nodes joined, and these are gone", async () => {
    const world = new Scenario({ hold: minutes(2) });
    world.addNode("a");
    const { node } = world.launch({ joinsAfter: minutes(3) });
    await world.pass(minutes(8));
    world.nodes.remove(node);
    await world.pass(minutes(20));

    world.launch();
    await world.pass(seconds(10));

    expect(world.heldNodes()).toEqual(["a"]);
  });
});
