import { describe, expect, it } from "vitest";
import { after, hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { Scenario } from "../../simulator/scenario.ts";

/** An instance with the tags of our Karpenter that never becomes a node, every few minutes; for each minute whether nodes were held. */
async function forge(world: Scenario, every: number, duration: number): Promise<boolean[]> {
  const held: boolean[] = [];
  for (const end = after(world.time, duration); world.time < end; ) {
    if (held.length % every === 0) world.launch({ joinsAfter: null });
    await world.pass(minutes(1));
    held.push(world.heldNodes().length > 0);
  }
  return held;
}

/** How many minutes in a row it was so, longest first. */
const stretches = (minutesHeld: readonly boolean[], wanted: boolean): number[] =>
  minutesHeld
    .map((held) => (held === wanted ? "x" : " "))
    .join("")
    .trim()
    .split(/ +/)
    .map(({ length }) => length)
    .toSorted((a, b) => b - a);

describe("instances that are tagged like Karpenter's and never join", () => {
  it.each([
    [1, minutes(20), 25],
    [5, minutes(20), 25],
    [21, minutes(20), 20],
    [1, minutes(2), 7],
  ])(
    "every %i minutes hold nodes for one hold of %i ms at a time, and while the last may still boot: %i minutes",
    async (every, hold, longest) => {
      const world = new Scenario({ hold });
      world.addNode("a");
      const held = await forge(world, every, hours(3));
      expect(stretches(held, true)[0]).toBeLessThanOrEqual(longest);
      const whole = held.slice(0, held.lastIndexOf(true));
      expect(stretches(whole, false).at(-1)).toBeGreaterThanOrEqual(10);
      expect(world.history().map(({ extensions }) => extensions)).not.toContain(1);
    },
  );

  it("do not keep a real launch after the breather from being held for", async () => {
    const world = new Scenario();
    world.addNode("a");
    await forge(world, 5, minutes(30));
    expect(world.heldNodes()).toEqual([]);

    const { node } = world.launch({ joinsAfter: seconds(40) });
    await world.pass(minutes(19));

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
});
