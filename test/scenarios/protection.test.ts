import { describe, expect, it } from "vitest";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import { Scenario } from "../../simulator/scenario.ts";

function threeNodes(): Scenario {
  const world = new Scenario();
  for (const name of ["a", "b", "c"]) world.addNode(name);
  return world;
}

const reported = (world: Scenario) => world.metrics.all("LaunchToProtectedMs");

describe("how long a launch took to protect the cluster", () => {
  it("is recorded once, when all existing nodes are marked, and not again for later launches or nodes", async () => {
    const world = threeNodes();
    world.launch({ eventAfter: seconds(3) });
    await world.pass(minutes(10));
    world.launch();
    await world.pass(minutes(10));

    expect(reported(world)).toEqual([seconds(3)]);
  });

  it("is recorded when there was no node to mark, and not again when the first one joins", async () => {
    const world = new Scenario();
    world.launch({ eventAfter: seconds(3) });
    await world.pass(minutes(10));

    expect([world.heldNodes(), reported(world)]).toEqual([["node-1"], [seconds(3)]]);
  });

  it("is not recorded while a node is unmarked, but by the invocation that marks it", async () => {
    const world = threeNodes();
    world.sweepEvery = undefined;
    world.launch({ joinsAfter: null });
    const hold = await world.deliver();
    while (hold.waitsFor !== "patch b") await world.step(hold);
    await world.step(hold, "refused");
    await world.finish(hold);
    const atOnce = reported(world);
    await world.pass(minutes(2));

    expect([atOnce, reported(world)]).toEqual([[], [seconds(15)]]);
  });

  it("is not recorded by an invocation that runs out of time, but by the next", async () => {
    const world = threeNodes();
    world.launch({ joinsAfter: null });
    const hold = await world.deliver();
    while (hold.waitsFor !== "patch b") await world.step(hold);
    world.time = new Date(world.time.getTime() + minutes(2));
    await world.finish(hold);
    const first = [world.heldNodes(), reported(world)];
    await world.pass(seconds(1));

    expect(first).toEqual([["a"], []]);
    expect([world.heldNodes(), reported(world)]).toEqual([["a", "b", "c"], [minutes(2)]]);
  });

  it("counts from the first launch, also when a later one arrived before all nodes were marked", async () => {
    const world = threeNodes();
    world.sweepEvery = undefined;
    let isRefused = true;
    world.refuses = (call) => isRefused && call === "patch b";
    world.launch({ joinsAfter: null });
    await world.pass(seconds(40));
    world.launch({ joinsAfter: null });
    await world.pass(seconds(2));
    isRefused = false;
    await world.pass(minutes(2));

    expect(world.hold()?.extensions).toBe(1);
    expect(reported(world)).toEqual([seconds(50)]);
  });

  it.each(["hold", "sweep"] as const)(
    "is recorded by the %s after a crash before the first mark",
    async (by) => {
      const world = threeNodes();
      world.sweepEvery = by === "sweep" ? minutes(5) : undefined;
      world.launch({ joinsAfter: null });
      const hold = await world.deliver();
      while (hold.waitsFor !== "list") await world.step(hold);
      hold.crash();
      await world.pass(minutes(15));

      expect(world.heldNodes()).toEqual(["a", "b", "c"]);
      expect(reported(world)).toHaveLength(1);
      expect(reported(world)[0]).toBeGreaterThanOrEqual(by === "sweep" ? minutes(5) : minutes(12));
    },
  );

  it("is not recorded for a hold by hand, nor for one that an earlier version started", async () => {
    const world = threeNodes();
    await world.control({ do: "hold", for: "10m" });
    await world.pass(minutes(11));
    world.launch();
    const hold = await world.deliver();
    while (hold.waitsFor !== "list") await world.step(hold);
    hold.crash();
    const record = world.holds.records.get("cluster");
    if (!record?.hold) throw new Error("no hold began");
    const { unprotected: _, ...old } = record.hold;
    world.holds.records.set("cluster", { ...record, hold: old });
    await world.pass(minutes(15));

    expect(world.heldNodes()).toEqual(["a", "b", "c", "node-1"]);
    expect(reported(world)).toEqual([]);
  });
});
