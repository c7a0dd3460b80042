import { expect, it } from "vitest";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import { Scenario } from "../../simulator/scenario.ts";

function twoPools(scope: "cluster" | "nodepool"): Scenario {
  const world = new Scenario({ scope });
  world.addNode("a", { pool: "a" });
  world.addNode("b", { pool: "b" });
  return world;
}

it.each([
  ["cluster", "nodepool", { do: "hold", for: "100m" }],
  ["nodepool", "cluster", { do: "hold", for: "100m", scope: "nodepool/a" }],
] as const)(
  "a hold started with scope %s keeps its nodes until it ends with scope %s",
  async (old, present, ask) => {
    const world = twoPools(old);
    await world.control(ask);
    const oldHold = Object.values(world.marks())[0] ?? "";
    const kept = world.nodes.held(oldHold);
    world.deploy({ scope: present });

    world.launch({ pool: "a" });
    await world.pass(minutes(50));
    expect(world.nodes.held(oldHold)).toEqual(expect.arrayContaining([...kept]));

    await world.pass(minutes(51));
    expect(world.marks()).toEqual({});
  },
);

it.each([
  ["cluster", "nodepool", { do: "hold", for: "10m" }],
  ["nodepool", "cluster", { do: "hold", for: "10m", scope: "nodepool/a" }],
] as const)(
  "a hold started with scope %s hands its nodes to a running hold with scope %s",
  async (old, present, ask) => {
    const world = twoPools(old);
    world.sweepEvery = undefined;
    await world.control(ask);
    world.deploy({ scope: present });
    await world.pass(minutes(5));

    world.launch({ pool: "a", joinsAfter: null });
    await world.pass(minutes(5) + seconds(30));

    expect(world.heldNodes()).toContain("a");
    expect(world.nodes.history("a")).toEqual([undefined, "true"]);
  },
);
