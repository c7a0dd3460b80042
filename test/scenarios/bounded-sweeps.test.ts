import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { poolScope } from "../../lambda/core/scope.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { Scenario } from "../../simulator/scenario.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { aHold } from "../support/builders.ts";

function addMarked(world: Scenario, name: string, pool: string, n: number): void {
  world.addNode(name, { pool });
  world.nodes.mark(name, holdId(n));
}

/** Holds by NodePool; each change of a node whose name starts with `slow` takes that long, and may fail. */
function pools(slow: { takes: number; fails?: boolean }): Scenario {
  const world = new Scenario({ scope: "nodepool" });
  world.refuses = (call) => {
    if (!call.startsWith("patch slow")) return false;
    world.time = after(world.time, slow.takes);
    return slow.fails ?? false;
  };
  return world;
}

async function holdOf(world: Scenario, pool: string, n: number, about = {}): Promise<void> {
  const hold = aHold({ id: holdId(n), expiresAt: after(noon, minutes(60)), ...about });
  await world.holds.write({ scope: poolScope(pool), version: 0, hold });
}

const sweepOnce = async (world: Scenario) => world.finish(await world.sweep());

describe("a sweep with little time", () => {
  it("ends overdue holds and removes orphaned marks before it marks a slow NodePool", async () => {
    const world = pools({ takes: seconds(60) });
    await holdOf(world, "a", 1);
    for (let n = 0; n < 20; n++) world.addNode(`slow-${n}`, { pool: "a" });
    await holdOf(world, "b", 2, { expiresAt: noon });
    addMarked(world, "overdue", "b", 2);
    addMarked(world, "orphan", "c", 3);

    await sweepOnce(world);

    expect(world.marks()).not.toHaveProperty("overdue");
    expect(world.marks()).not.toHaveProperty("orphan");
  });

  it("marks other NodePools though the nodes of one are slow", async () => {
    const world = pools({ takes: seconds(20) });
    await holdOf(world, "a", 1);
    for (let n = 0; n < 20; n++) world.addNode(`slow-${n}`, { pool: "a" });
    await holdOf(world, "b", 2);
    world.addNode("quick", { pool: "b" });

    await sweepOnce(world);

    expect(world.marks()).toMatchObject({ quick: holdId(2) });
  });

  it("releases other holds when the nodes of one hold cannot be changed", async () => {
    const world = pools({ takes: seconds(0), fails: true });
    await holdOf(world, "a", 1, { expiresAt: noon });
    await holdOf(world, "b", 2, { expiresAt: noon });
    addMarked(world, "slow-node", "a", 1);
    addMarked(world, "quick", "b", 2);

    await sweepOnce(world);

    expect(world.marks()).toEqual({ "slow-node": holdId(1) });
    expect([world.hold("nodepool/a")?.state, world.hold("nodepool/b")]).toEqual(["releasing", undefined]);
  });
});

it("one pass over the marked nodes ends all due holds", async () => {
  const world = pools({ takes: 0 });
  for (let n = 1; n <= 99; n++) {
    await holdOf(world, `p${n}`, n, { expiresAt: noon });
    addMarked(world, `node-${n}`, `p${n}`, n);
  }
  await sweepOnce(world);

  expect(world.marks()).toEqual({});
  expect(world.calls.filter((call) => call === "list").length).toBeLessThan(5);
});
