import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Terminal } from "../../cli/terminal/terminal.ts";
import { after, type Duration, formatDuration, seconds } from "../../lambda/core/duration.ts";
import type { Log } from "../../lambda/core/ports.ts";
import type { KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { parseNode } from "../../lambda/kubernetes/node-objects.ts";
import { readSettings, type Settings } from "../../lambda/settings.ts";
import { systemClock } from "../../lambda/system-clock.ts";
import { WallClock } from "../../local/holder/clock.ts";
import { LivePage } from "../../local/page/live-page.ts";
import { FakeKubernetesServer } from "../fake-kubernetes/fake-kubernetes-server.ts";
import { FakeNodeClaims } from "../fake-node-claims.ts";
import { type LocalWorld, localWorld } from "../local-world.ts";
import { Narrator } from "../story/narrator.ts";
import { Bursts } from "./bursts.ts";

export type ServeOptions = Readonly<{ hold: Duration; log: Log }>;

/** A running holder with a fake cluster that kubectl can reach. */
export type Served = Readonly<{
  world: LocalWorld;
  /** The address of the fake Kubernetes API. */
  server: string;
  kubeconfig: string;
  /** Where the live timeline is. */
  url: string;
  launch: () => void;
  stop: () => Promise<void>;
}>;

const here = ["anna", "bert", "cleo"];
const tidyEvery: Duration = seconds(10);
/** A new node is not removed before this age, as in Karpenter. */
const recent: Duration = seconds(45);

/** Starts everything in real time and reports on the terminal what happens, until it is stopped. */
export async function serve(
  { hold, log }: ServeOptions,
  terminal: Pick<Terminal, "out" | "style">,
): Promise<Served> {
  const settings = readSettings({ cluster: "stand-in", hold: formatDuration(hold), sweepEvery: "1m" });
  const cluster = await FakeKubernetesServer.start();
  const nodeClaims = new FakeNodeClaims(systemClock);
  const api: KubernetesCaller = {
    call: async (call) => (FakeNodeClaims.answers(call) ? nodeClaims.answer(call) : cluster.call(call)),
  };
  const clock = new WallClock(systemClock);
  const world = localWorld({ settings, clock, log, cluster, api });
  const folder = await mkdtemp(join(tmpdir(), "karpenter-node-holder-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, cluster.kubeconfig(), { mode: 0o600 });

  const page = await LivePage.start({
    events: world.timeline,
    clock: systemClock,
    title: "A holder at work",
    about: `A stand-in cluster on this machine. Each launch holds every node for ${formatDuration(hold)}, and so does each job on a launched node.`,
  });

  const burstEvery = 3 * hold;
  introduce(kubeconfig, page.url, settings, burstEvery, terminal);
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
  const bursts = new Bursts({ clock, ec2: world.ec2, nodeClaims, hold, notify });
  const tidying = setInterval(() => tidyUp(world, settings.holdAnnotation), tidyEvery);
  const beginning = setInterval(() => bursts.begin(), burstEvery);
  bursts.begin();
  const stop = async () => {
    clearInterval(beginning);
    bursts.stop();
    clearInterval(tidying);
    await page.stop();
    await world.close();
    await cluster.stop();
    await rm(folder, { recursive: true });
  };
  return { world, server: cluster.server, kubeconfig, url: page.url, launch: () => bursts.launch(), stop };
}

function introduce(
  kubeconfig: string,
  url: string,
  { hold, holdAnnotation: annotation }: Settings,
  burstEvery: Duration,
  { out, style }: Pick<Terminal, "out" | "style">,
): void {
  const often = `a burst of three launches every ${formatDuration(burstEvery)}`;
  out(`A stand-in cluster with three nodes, holds of ${formatDuration(hold)}, and ${often}.`);
  out("A launch holds every node. Later launches extend the hold, and jobs on the new nodes keep it going.");
  out(`${formatDuration(hold)} after the last of them all nodes are free, and idle ones go.\n`);
  out(`The live timeline: ${style("cyan", url)}\n`);
  out("Try in another terminal:\n");
  for (const line of [
    `export KUBECONFIG=${kubeconfig}`,
    "kubectl get nodes -L karpenter-node-holder/hold --watch",
    "kubectl label node bert karpenter-node-holder/hold-    # the annotation is yours now: no release removes it",
    `kubectl annotate node bert ${annotation}-    # you remove it again`,
    "kubectl label node cleo karpenter-node-holder/hold=never --overwrite    # left out of every hold",
    `kubectl annotate node cleo ${annotation}-    # it is yours from then on, and would stay`,
  ])
    out(`  ${style("cyan", line)}`);
  out("");
}

/** Removes an unannotated new node, as Karpenter removes empty nodes. */
function tidyUp({ cluster, ec2 }: LocalWorld, annotation: string): void {
  const nodes = cluster.nodes().map(parseNode);
  const free = nodes.find(({ name, annotations }) => !here.includes(name) && !annotations?.[annotation]);
  if (free && after(free.createdAt, recent) < systemClock.now()) ec2.terminate(free.name);
}
