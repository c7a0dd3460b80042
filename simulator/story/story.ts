import type { Terminal } from "../../cli/terminal/terminal.ts";
import { after, type Duration, formatDuration, hours, seconds } from "../../lambda/core/duration.ts";
import type { Log } from "../../lambda/core/ports.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import { readSettings } from "../../lambda/settings.ts";
import { systemClock } from "../../lambda/system-clock.ts";
import type { TimelineEvent } from "../../local/holder/timeline.ts";
import { FakeCluster } from "../fake-kubernetes/fake-cluster.ts";
import { localWorld } from "../local-world.ts";
import { type Pace, VirtualClock } from "../virtual-clock.ts";
import { type Service, Work } from "../work.ts";
import { Narrator } from "./narrator.ts";
import { type Check, type Evidence, judge, Observer, plot } from "./verdict.ts";

type Output = Pick<Terminal, "out" | "style">;
type Play = Readonly<{
  begin: Date;
  output: Output;
  pace?: Pace | undefined;
  log: Log;
  mode: Rules["mode"];
}>;
type Played = Evidence & Readonly<{ events: readonly TimelineEvent[] }>;

/** How long a length of the story lasts for its reader. */
export const shownFor = (length: Duration): Duration => Math.min(400, length / 420);

const web: Service = { name: "web", cpu: 1_900 };
/** When two pods of web are left, they fit on the first node as well. */
const running = [
  [{ name: "shop", cpu: 1_000 }, plot.here[0], 4],
  [web, plot.shrinking, 3],
  [{ name: "search", cpu: 1_900 }, plot.usersOwn, 4],
] as const;

const silent: Log = { info: () => {}, warn: () => {}, error: () => {} };
const nowhere: Output = { out: () => {}, style: (_, text) => text };

/** Plays the story of a hold with the real holder, and checks whether it kept its promises. */
export async function runStory(output: Output, pace: Pace, log: Log = silent): Promise<readonly Check[]> {
  output.out(
    `The real holder on a clock that runs fast (hold=auto, maxHold=${formatDuration(plot.maxHold)}), and the same work without it.\n`,
  );
  const begin = systemClock.now();
  begin.setMilliseconds(0);
  const evidence = await play({ begin, output, pace, log, mode: "hold" });
  // It observes: the same work, the same Karpenter, and no node is changed.
  const { counts } = await play({ begin, output: nowhere, log: silent, mode: "observe" });
  const checks = judge(evidence, counts);
  printVerdict(checks, output);
  return checks;
}

/** What happens in the story, for a picture of it. */
export const storyEvents = async (begin: Date): Promise<readonly TimelineEvent[]> =>
  (await play({ begin, output: nowhere, log: silent, mode: "hold" })).events;

async function play({ begin, output, pace, log, mode }: Play): Promise<Played> {
  const clock = new VirtualClock(begin, pace);
  const settings = readSettings({ cluster: "story", maxHold: formatDuration(plot.maxHold), mode });
  const { holdAnnotation: annotation } = settings;
  const cluster = new FakeCluster(() => clock.now());
  let isAway = false;
  const world = localWorld({
    ...{ settings, clock, log, cluster },
    onCall: ({ path }) => {
      if (!isAway || path !== "/api/v1/nodes") return;
      isAway = false;
      note("the API server fails: the hold is recorded, but not a node is marked");
      throw new Error("the API server failed");
    },
  });
  const { ec2, holder, timeline } = world;
  const note = (text: string) => timeline.record({ kind: "note", text });
  const at = (moment: Duration, action: () => void) => clock.at(after(begin, moment), action);
  const narrator = new Narrator(begin, output);
  const nameOf = (count: number) => plot.newNodes[count - 1] ?? `node-${count}`;
  const notify = (text: string) => narrator.remark(clock.now(), text);
  const work = new Work({ clock, ec2, cluster, annotation, nameOf, notify, ...plot.karpenter });
  try {
    const observer = new Observer(cluster, annotation, clock);
    timeline.follow((event) => narrator.report(event));
    // Not for a day, or each would have its turn at a time of the day.
    for (const node of plot.here) ec2.addNode(node, { age: hours(2) });
    at(seconds(30), () => cluster.editNode(plot.usersOwn, { annotations: { [annotation]: "true" } }));
    for (const [service, node, pods] of running) work.place(service, node, pods);
    at(plot.first, () => work.burst(3, plot.jobLasts));
    at(plot.again, () => work.burst(3, plot.jobLasts));
    at(plot.third, () => work.burst(4, plot.jobLasts));
    at(plot.shrinks, () => work.scale(web, 2));
    at(plot.grows, () => work.scale(web, 3));
    at(plot.shrinksAgain, () => work.scale(web, 2));
    at(plot.later, () => {
      isAway = true;
      work.burst(1, plot.jobLasts);
    });
    at(plot.oneShotLost, () => {
      holder.timers.loseAll();
      note("the one-shot that would end the hold is lost");
    });
    await holder.start();
    const end = after(begin, plot.end);
    await clock.runUntil(end);
    narrator.flush();
    const history = await world.journal.history(10);
    return { begin, end, observer, history, counts: work.counts, events: timeline.events };
  } finally {
    work.stop();
    await world.close();
  }
}

function printVerdict(checks: readonly Check[], { out, style }: Output): void {
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
