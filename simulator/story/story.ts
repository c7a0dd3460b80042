import type { Terminal } from "../../cli/terminal/terminal.ts";
import { after, type Duration, formatDuration, seconds } from "../../lambda/core/duration.ts";
import type { Log } from "../../lambda/core/ports.ts";
import type { KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { readSettings } from "../../lambda/settings.ts";
import { systemClock } from "../../lambda/system-clock.ts";
import { FakeCluster } from "../fake-kubernetes/fake-cluster.ts";
import { localWorld } from "../local-world.ts";
import { type Pace, VirtualClock } from "../virtual-clock.ts";
import { Narrator } from "./narrator.ts";
import { type Check, judge, Observer, plot } from "./verdict.ts";

type Teller = Pick<Terminal, "out" | "style">;

const silent: Log = { info: () => {}, warn: () => {}, error: () => {} };
const [dora, emil, frida] = plot.newNodes;

/** Plays the story of a hold with the real holder, and checks whether it kept its promises. */
export async function runStory(teller: Teller, pace: Pace, log: Log = silent): Promise<readonly Check[]> {
  const begin = systemClock.now();
  begin.setMilliseconds(0);
  const clock = new VirtualClock(begin, pace);
  const settings = readSettings({ cluster: "story", hold: formatDuration(plot.hold) });
  const { holdAnnotation } = settings;
  const cluster = new FakeCluster(() => clock.now());
  let crashes = false;
  const api: KubernetesCaller = {
    call: async (call) => {
      if (!crashes || call.path !== "/api/v1/nodes") return cluster.call(call);
      crashes = false;
      note("the function crashes: recorded and armed, but not a node is marked");
      throw new Error("the function crashed");
    },
  };
  const world = localWorld({ settings, clock, log, cluster, api });
  const { ec2, holder, timeline } = world;
  const note = (text: string) => timeline.record({ kind: "note", text });
  const at = (moment: Duration, action: () => void) => clock.at(after(begin, moment), action);
  try {
    const observer = new Observer(cluster, holdAnnotation, clock);
    const narrator = new Narrator(begin, teller);
    timeline.follow((event) => narrator.report(event));
    teller.out("A hold of the real holder, on a clock that runs fast (hold 20m, sweep 5m):\n");
    for (const node of plot.here) ec2.addNode(node);
    at(seconds(30), () => cluster.editNode(plot.usersOwn, { annotations: { [holdAnnotation]: "true" } }));
    at(plot.first, () => ec2.launch({ name: dora }));
    at(plot.second, () => ec2.launch({ name: emil }));
    at(plot.third, () => {
      crashes = true;
      ec2.launch({ name: frida });
    });
    at(plot.scheduleLost, () => {
      holder.timers.loseAll();
      note("the one-shot that would end the hold is lost");
    });
    await holder.start();
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
