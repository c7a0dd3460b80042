import type { Terminal } from "../../cli/terminal/terminal.ts";
import { after, formatDuration } from "../../lambda/core/duration.ts";
import type { Log } from "../../lambda/core/ports.ts";
import { readSettings } from "../../lambda/settings.ts";
import { systemClock } from "../../lambda/system-clock.ts";
import { FastClock, type Pace } from "../virtual-clock.ts";
import { openStandInWorld } from "../world.ts";
import { crashingNodes } from "./crash.ts";
import { Telling } from "./narrator.ts";
import { plot, stage } from "./script.ts";
import { type Check, judge } from "./verdict.ts";
import { Witness } from "./witness.ts";

type Teller = Pick<Terminal, "out" | "style">;

const silent: Log = { info: () => {}, warn: () => {}, error: () => {} };

/** Tells the story of a hold by the real holder, and judges whether it kept its promises. */
export async function tellStory(teller: Teller, pace: Pace, log: Log = silent): Promise<readonly Check[]> {
  const begin = systemClock.now();
  begin.setMilliseconds(0);
  const clock = new FastClock(begin, pace);
  const settings = readSettings({ cluster: "story", hold: formatDuration(plot.hold) });
  const chronicle = () => world.chronicle;
  let crash = { arm: () => {} };
  const world = await openStandInWorld({
    settings,
    clock,
    log,
    nodes: (nodes) => {
      const crashing = crashingNodes(nodes, chronicle);
      crash = crashing.crash;
      return crashing.nodes;
    },
  });
  try {
    const witness = new Witness(world.cluster, settings.holdAnnotation, clock);
    const telling = new Telling(begin, teller);
    world.chronicle.follow((happening) => telling.hear(happening));
    teller.out("A hold, told by the real holder on a clock that runs fast (hold 20m, sweep 5m):\n");
    stage(world, clock, settings.holdAnnotation, crash);
    await world.holder.start();
    const end = after(begin, plot.end);
    await clock.runUntil(end);
    telling.flush();
    const checks = judge({ begin, end, witness, history: await world.journal.history(10) });
    tellVerdict(checks, teller);
    return checks;
  } finally {
    await world.close();
  }
}

function tellVerdict(checks: readonly Check[], { out, style }: Teller): void {
  out("\nThe verdict, from the API server's history of each node and from the record:\n");
  for (const { promise, isKept, saw } of checks) {
    const sign = isKept ? style("green", "✓") : style("red", "✗");
    out(`  ${sign} ${promise} ${style("dim", `(${saw})`)}`);
  }
  const broken = checks.filter(({ isKept }) => !isKept).length;
  out("");
  out(
    broken === 0
      ? style("green", `All ${checks.length} promises kept.`)
      : style("red", `${broken} of ${checks.length} promises broken.`),
  );
}
