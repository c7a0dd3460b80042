import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Terminal } from "../../cli/terminal/terminal.ts";
import { quoted } from "../../cli/terminal/text.ts";
import { type Duration, formatDuration, seconds } from "../../lambda/core/duration.ts";
import type { Log } from "../../lambda/core/ports.ts";
import { readSettings, type Settings } from "../../lambda/settings.ts";
import { systemClock } from "../../lambda/system-clock.ts";
import { WallClock } from "../../local/holder/clock.ts";
import { LivePage } from "../../local/page/live-page.ts";
import { ControlSocket } from "../../local/run/control-socket.ts";
import { FakeKubernetesServer } from "../fake-kubernetes/fake-kubernetes-server.ts";
import { type LocalWorld, localWorld } from "../local-world.ts";
import { Narrator } from "../story/narrator.ts";
import { Work } from "../work.ts";
import { serveKarpentersLists } from "./karpenters-lists.ts";

export type ServeOptions = Readonly<{ hold: Duration; log: Log }>;

/** A running holder that the command line can ask, with a fake cluster that kubectl can reach. */
export type Served = Readonly<{
  world: LocalWorld;
  /** Where the command line finds the holder, as that of a `run`. */
  folder: string;
  /** The address of the fake Kubernetes API. */
  server: string;
  kubeconfig: string;
  /** Where the live timeline is. */
  url: string;
  stop: () => Promise<void>;
}>;

const here = ["anna", "bert", "cleo"];
const boot: Duration = seconds(10);
/** In parts of the hold: a second burst of jobs finds the nodes of the first; after the third part everything begins again. */
const [jobLasts, secondBurst, beginsAgain] = [1 / 4, 3 / 5, 3];

/** Starts everything in real time and reports on the terminal what happens, until it is stopped. */
export async function serve(
  { hold, log }: ServeOptions,
  terminal: Pick<Terminal, "out" | "style">,
): Promise<Served> {
  const settings = readSettings({ cluster: "stand-in", hold: formatDuration(hold), sweepEvery: "1m" });
  const cluster = await FakeKubernetesServer.start();
  const clock = new WallClock(systemClock);
  const world = localWorld({ settings, clock, log, cluster });
  const folder = await mkdtemp(join(tmpdir(), "karpenter-node-holder-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, cluster.kubeconfig(), { mode: 0o600 });
  const answer = (payload: unknown) => world.holder.ask(payload);
  const control = await ControlSocket.open({ folder, answer, log });

  const page = await LivePage.start({
    events: world.timeline,
    clock: systemClock,
    title: "A holder at work",
    about: `A stand-in cluster on this machine. Each launch holds every node for ${formatDuration(hold)}.`,
  });

  introduce({ folder, kubeconfig, url: page.url }, settings, terminal);
  const narrator = new Narrator(systemClock.now(), terminal);
  let flushing: NodeJS.Timeout | undefined;
  world.timeline.follow((event) => {
    narrator.report(event);
    clearTimeout(flushing);
    flushing = setTimeout(() => narrator.flush(), 200);
  });
  for (const node of here) world.ec2.addNode(node);
  await world.holder.start();

  const notify = (text: string) => narrator.remark(systemClock.now(), text);
  const { ec2 } = world;
  const nameOf = (count: number) => `new-node-${count}`;
  const { holdAnnotation: annotation } = settings;
  const consolidateAfter = hold / 6;
  serveKarpentersLists(cluster, { nodeClaims: world.nodeClaims, consolidateAfter, now: systemClock.now });
  const work = new Work({ clock, ec2, cluster, annotation, nameOf, boot, consolidateAfter, notify });
  const burst = () => work.burst(3, jobLasts * hold);
  const timers = new Set<NodeJS.Timeout>();
  const begin = () => {
    burst();
    timers.add(setTimeout(burst, secondBurst * hold));
  };
  timers.add(setInterval(begin, beginsAgain * hold));
  begin();
  const stop = async () => {
    for (const timer of timers) clearTimeout(timer);
    work.stop();
    await page.stop();
    await control.close();
    await world.close();
    await cluster.stop();
    await rm(folder, { recursive: true });
  };
  const places = { folder, server: cluster.server, kubeconfig, url: page.url };
  return { world, ...places, stop };
}

const checkout = join(import.meta.dirname, "../..");

function introduce(
  { folder, kubeconfig, url }: Pick<Served, "folder" | "kubeconfig" | "url">,
  { hold, holdAnnotation: annotation }: Settings,
  { out, style }: Pick<Terminal, "out" | "style">,
): void {
  const [length, again] = [hold, beginsAgain * hold].map(formatDuration);
  out(`A stand-in cluster with three nodes, holds of ${length}, and a burst of three jobs every ${again}.`);
  out(
    "Each job needs a node of its own. A launch holds every node, so a second burst finds those of the first.",
  );
  out(`${length} after the last launch all nodes are free, and Karpenter removes the empty ones.\n`);
  out(`The live timeline: ${style("cyan", url)}\n`);
  out("Try in another terminal:\n");
  const holder = (command: string) => `npx karpenter-node-holder ${command} --run ${quoted(folder)}`;
  for (const line of [
    `cd ${quoted(checkout)}`,
    holder("status"),
    holder("hold --for 10m --reason 'load test'"),
    holder("release --force"),
    `npx karpenter-node-holder advise --kubeconfig ${quoted(kubeconfig)}`,
    `export KUBECONFIG=${quoted(kubeconfig)}`,
    "kubectl get nodes -L karpenter-node-holder/hold --watch",
    "kubectl label node bert karpenter-node-holder/hold-    # the annotation is yours now: no release removes it",
    `kubectl annotate node bert ${annotation}-    # you remove it again`,
    "kubectl label node cleo karpenter-node-holder/hold=never --overwrite    # left out of every hold",
    `kubectl annotate node cleo ${annotation}-    # it is yours from then on, and would stay`,
  ])
    out(`  ${style("cyan", line)}`);
  out("");
}
