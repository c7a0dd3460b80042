import { hours, minutes } from "../../lambda/core/duration.ts";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import fc from "../support/fast-check.ts";
import { plainLaunch, type Setting } from "./commands.ts";
import { movable } from "./karpenter.ts";
import { WaitRules } from "./rules/wait-rules.ts";
import { goodDay } from "./run.ts";

/** Work that needs the same nodes again and again. */
export type Habit = Readonly<{
  nodes: number;
  /** What stays on them in a pause. */
  idle: "none" | "movable";
  /** Karpenter takes what is let go at once, or never. */
  isTaken: boolean;
  /** Pauses, some long or short ones in a row. */
  stretches: readonly Readonly<{ isLong: boolean; times: number }>[];
}>;

export const habits: fc.Arbitrary<Habit> = fc.record({
  nodes: fc.constantFrom(1, 1, 1, 2, 9),
  idle: fc.constantFrom("none", "none", "movable"),
  isTaken: fc.boolean(),
  stretches: fc.array(fc.record({ isLong: fc.boolean(), times: fc.integer({ min: 1, max: 12 }) }), {
    minLength: 1,
    maxLength: 4,
  }),
});

/** A long pause goes on after the evictions; a node that was launched is idle two minutes later, and one that nobody takes for ten is left alone. */
const [long, short, busy] = [minutes(8), minutes(2), minutes(3)];

/** Without faults, nodes are let go as the pauses before have taught. */
export async function playHabit({ nodes, idle, isTaken, stretches }: Habit, _: readonly []): Promise<void> {
  const day = goodDay({ ...setting, nodes: 1 });
  const { world, karpenter, watcher } = day.stage;
  karpenter.runOn("old-0", "many");
  const evictions = idle === "movable" ? movable * world.settings.evictionCost : 0;
  const rules = new WaitRules(world.settings, nodes, evictions);
  const needed = () => world.nodes.all().filter(({ name }) => name !== "old-0");
  const work = async () => {
    const count = nodes - needed().length;
    if (count > 0) karpenter.launch({ ...plainLaunch, count });
    await day.pass(1);
    for (const { name } of needed()) karpenter.runOn(name, "full");
    await day.pass(busy);
  };
  await work();
  for (const isLong of stretches.flatMap(({ isLong, times }) => Array<boolean>(times).fill(isLong))) {
    const length = isLong ? evictions + long : short;
    for (const { name } of needed()) karpenter.runOn(name, idle);
    for (let idleFor = minutes(1); idleFor <= length; idleFor += minutes(1)) {
      await day.pass(minutes(1));
      const letGo = needed().filter(({ labels }) => labels[holdLabel] === undefined).length;
      rules.check(idleFor, nodes - needed().length + letGo, isTaken ? letGo : 0);
      for (let n = 0; isTaken && n < letGo; n++) karpenter.take();
      watcher.accept();
    }
    rules.ended(length);
    await work();
  }
}

const setting: Omit<Setting, "nodes"> = {
  ...{ karpenter: "v1", auto: true, orphanedMark: false, claims: "readable", leftOut: false },
  ...{ scope: "cluster", mode: "hold", hold: minutes(20), maxHold: hours(24), breather: minutes(10) },
  ...{ maxRequest: hours(24), initialDelay: 0, driftWait: 0, consolidateAfter: 0 },
  sizes: 1,
};
