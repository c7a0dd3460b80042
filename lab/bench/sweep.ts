import { after, type Duration, minutes } from "../../lambda/core/duration.ts";
import { poolScope } from "../../lambda/core/scope.ts";
import { Scenario } from "../../simulator/scenario.ts";
import { aHold } from "../../test/support/builders.ts";
import { type Bench, count, type Size } from "./figure.ts";

const sizes: Readonly<Record<Size, Readonly<{ pools: number; nodes: number }>>> = {
  whole: { pools: 5_000, nodes: 100_000 },
  quick: { pools: 50, nodes: 1_000 },
};
/** How long a call takes; patches run sixteen at a time. */
const recordCall: Duration = 6;
const listCall: Duration = 250;
const patchCall: Duration = 20 / 16;
const sweepEvery: Duration = minutes(5);

/** Every hold of every NodePool is overdue at once, and the sweep alone is left to release them. */
export const sweep: Bench = {
  name: "sweep",
  title: "Sweeps until every overdue release has started",
  seconds: 30,
  run: async (size) => {
    const { pools, nodes } = sizes[size];
    const world = await overdueWorld(pools, nodes);
    const areWaiting = async () =>
      (await world.holds.all()).records.some(({ hold }) => hold?.state === "held");
    let sweeps = 0;
    while (sweeps < 10 && (await areWaiting())) {
      sweeps += 1;
      const began = world.time;
      await world.finish(await world.sweep());
      world.time = after(began, Math.max(sweepEvery, world.time.getTime() - began.getTime()));
    }
    const isDone = !(await areWaiting());
    return [
      {
        what: `sweeps until the release of ${count(pools)} overdue holds on ${count(nodes)} nodes has started, on the simulator with assumed times of calls`,
        value: isDone ? String(sweeps) : `more than ${sweeps}`,
        goal: "≤ 2",
        reached: isDone && sweeps <= 2,
      },
    ];
  },
};

async function overdueWorld(pools: number, nodes: number): Promise<Scenario> {
  const world = new Scenario({ scope: "nodepool" });
  const idOf = (n: number) => `20260101t000000-${n.toString(36).padStart(6, "0")}`;
  for (let n = 0; n < pools; n++) {
    const hold = aHold({ id: idOf(n), expiresAt: world.time });
    await world.holds.write({ scope: poolScope(`pool-${n}`), version: 0, hold });
  }
  for (let n = 0; n < nodes; n++) {
    world.addNode(`node-${n}`, { pool: `pool-${n % pools}` });
    world.nodes.mark(`node-${n}`, idOf(n % pools));
  }
  world.refuses = (call) => {
    const takes = call === "list" ? listCall : call.startsWith("patch ") ? patchCall : recordCall;
    world.time = after(world.time, takes);
    return false;
  };
  return world;
}
