import { after, type Duration, minutes, seconds } from "../../lambda/core/duration.ts";
import type { AlarmClock } from "../../local/holder/clock.ts";
import type { LocalWorld } from "../local-world.ts";

/** What the other parts need to know about the script. */
export const plot = {
  hold: minutes(20),
  first: minutes(1),
  second: minutes(12),
  third: minutes(42),
  scheduleLost: minutes(44),
  end: minutes(66),
  /** Nodes that were there before, and the one among them that its user holds. */
  here: ["anna", "bert", "cleo"],
  usersOwn: "cleo",
  newNodes: ["dora", "emil", "frida"],
} as const;

export type Crash = Readonly<{ arm: () => void }>;

/** Plans everything that happens outside of the holder. */
export function stage(world: LocalWorld, clock: AlarmClock, annotation: string, crash: Crash): void {
  const { ec2, cluster, timeline, holder } = world;
  const begin = clock.now();
  const at = (moment: Duration, action: () => void) => clock.at(after(begin, moment), async () => action());
  const [dora, emil, frida] = plot.newNodes;

  for (const node of plot.here) ec2.addNode(node);
  at(seconds(30), () => void cluster.editNode(plot.usersOwn, { annotations: { [annotation]: "true" } }));
  at(plot.first, () => ec2.launch({ name: dora }));
  at(plot.second, () => ec2.launch({ name: emil }));
  at(plot.third, () => {
    crash.arm();
    ec2.launch({ name: frida });
  });
  at(plot.scheduleLost, () => {
    holder.timers.loseAll();
    timeline.record({ kind: "note", text: "the one-shot that would end the hold is lost" });
  });
}
