import { expect, it } from "vitest";
import { minutes } from "../../lambda/core/duration.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import { Scenario } from "../../simulator/scenario.ts";

const changes = [
  ["cluster", "nodepool", { do: "hold", for: "100m" }],
  ["nodepool", "cluster", { do: "hold", for: "100m", scope: "nodepool/a" }],
] as const;

/** A hold by hand, and then a deployment with the other scope. */
async function changed(old: Rules["scope"], present: Rules["scope"], ask: object): Promise<Scenario> {
  const world = new Scenario({ scope: old });
  world.addNode("a", { pool: "a" });
  world.addNode("b", { pool: "b" });
  await world.control(ask);
  world.deploy({ scope: present });
  return world;
}

it.each(changes)(
  "a hold with scope %s ends with the next sweep once it is %s, without a breather",
  async (old, present, ask) => {
    const world = await changed(old, present, ask);
    await world.pass(minutes(5));
    expect(world.marks()).toEqual({});
    expect(world.history()).toMatchObject([{ endedBecause: "the setting scope has changed" }]);

    world.launch({ pool: "a" });
    await world.pass(minutes(1));
    expect(world.heldNodes()).toContain("a");
  },
);

it.each(changes)(
  "a hold that begins after a change of scope from %s to %s takes nodes over without a gap",
  async (old, present, ask) => {
    const world = await changed(old, present, ask);
    world.launch({ pool: "a", joinsAfter: null });
    await world.pass(minutes(10));
    expect(world.heldNodes()).toEqual(present === "cluster" ? ["a", "b"] : ["a"]);
    expect(world.nodes.history("a")).toEqual([undefined, "true"]);
  },
);
