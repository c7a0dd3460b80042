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
});
