import type { Terminal } from "../../cli/terminal/terminal.ts";
import { after, formatDuration } from "../../lambda/core/duration.ts";
import type { Log } from "../../lambda/core/ports.ts";
import { readSettings } from "../../lambda/settings.ts";
import { systemClock } from "../../lambda/system-clock.ts";
import { FakeCluster } from "../fake-kubernetes/fake-cluster.ts";
import { localWorld } from "../local-world.ts";
import { type Pace, VirtualClock } from "../virtual-clock.ts";
import { crashingNodes } from "./crash.ts";
import { Narrator } from "./narrator.ts";
import { Observer } from "./observer.ts";
import { plot, stage } from "./script.ts";
import { type Check, judge } from "./verdict.ts";

type Teller = Pick<Terminal, "out" | "style">;

const silent: Log = { info: () => {}, warn: () => {}, error: () => {} };

/** Plays the story of a hold with the real holder, and checks whether it kept its promises. */
export async function runStory(teller: Teller, pace: Pace, log: Log = silent): Promise<readonly Check[]> {
  const begin = systemClock.now();
  begin.setMilliseconds(0);
  const clock = new VirtualClock(begin, pace);
  const settings = readSettings({ cluster: "story", hold: formatDuration(plot.hold) });
  const timeline = () => world.timeline;
  let crash = { arm: () => {} };
  const world = localWorld({
    settings,
    clock,
    log,
    cluster: new FakeCluster(() => clock.now()),
    nodes: (nodes) => {
      const crashing = crashingNodes(nodes, timeline);
      crash = crashing.crash;
      return crashing.nodes;
    },
  });
  try {
    const observer = new Observer(world.cluster, settings.holdAnnotation, clock);
    const narrator = new Narrator(begin, teller);
    world.timeline.follow((event) => narrator.report(event));
    teller.out("A hold of the real holder, on a clock that runs fast (hold 20m, sweep 5m):\n");
    stage(world, clock, settings.holdAnnotation, crash);
    await world.holder.start();
    const end = after(begin, plot.end);
    await clock.runUntil(end);
    narrator.flush();
    const checks = judge({ begin, end, observer, history: await world.journal.history(10) });
    printVerdict(checks, teller);
    return checks;
  } finally {
    await world.close();
  }
}

function printVerdict(checks: readonly Check[], { out, style }: Teller): void {
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
