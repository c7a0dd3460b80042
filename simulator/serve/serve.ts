import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Terminal } from "../../cli/terminal/terminal.ts";
import { type Duration, formatDuration } from "../../lambda/core/duration.ts";
import type { Log } from "../../lambda/core/ports.ts";
import { KubernetesClient } from "../../lambda/kubernetes/client.ts";
import { readSettings, type Settings } from "../../lambda/settings.ts";
import { systemClock } from "../../lambda/system-clock.ts";
import { WallClock } from "../../local/holder/wall-clock.ts";
import { LivePage } from "../../local/page/live-page.ts";
import { FakeKubernetesServer } from "../fake-kubernetes/fake-kubernetes-server.ts";
import { type LocalWorld, localWorld } from "../local-world.ts";
import { Narrator } from "../story/narrator.ts";
import { tidyUp } from "./tidy-up.ts";

export type ServeOptions = Readonly<{ hold: Duration; launchEvery: Duration; log: Log }>;

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

/** Starts everything in real time and reports on the terminal what happens, until it is stopped. */
export async function serve(
  { hold, launchEvery, log }: ServeOptions,
  terminal: Pick<Terminal, "out" | "style">,
): Promise<Served> {
  const settings = readSettings({ cluster: "stand-in", hold: formatDuration(hold), sweepEvery: "1m" });
  const cluster = await FakeKubernetesServer.start();
  const login = { access: async () => cluster.access(), refresh: () => {} };
  const api = new KubernetesClient({ login, clock: systemClock, metrics: { add: () => {} } });
  const world = localWorld({ settings, clock: new WallClock(systemClock), log, cluster, api });
  const folder = await mkdtemp(join(tmpdir(), "karpenter-node-holder-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, cluster.kubeconfig(), { mode: 0o600 });

  const page = await LivePage.start({
    events: world.timeline,
    clock: systemClock,
    title: "A holder at work",
    about: `A stand-in cluster on this machine. Each launch holds every node for ${formatDuration(hold)}.`,
  });

  introduce(kubeconfig, page.url, settings, launchEvery, terminal);
  const narrator = new Narrator(systemClock.now(), terminal);
  let flushing: NodeJS.Timeout | undefined;
  world.timeline.follow((event) => {
    narrator.hear(event);
    clearTimeout(flushing);
    flushing = setTimeout(() => narrator.flush(), 200);
  });
  for (const node of here) world.ec2.addNode(node);
  await world.holder.start();

  let count = 0;
  const launch = () => {
    count += 1;
    world.ec2.launch({ name: `new-node-${count}` });
  };
  const stopTidying = tidyUp(world, here, settings.holdAnnotation);
  const launching = launchEvery > 0 ? setInterval(launch, launchEvery) : undefined;
  launch();
  const stop = async () => {
    clearInterval(launching);
    stopTidying();
    await page.stop();
    await world.close();
    await api.close();
    await cluster.stop();
    await rm(folder, { recursive: true });
  };
  return { world, server: cluster.server, kubeconfig, url: page.url, launch, stop };
}

function introduce(
  kubeconfig: string,
  url: string,
  { hold, holdAnnotation: annotation }: Settings,
  launchEvery: Duration,
  { out, style }: Pick<Terminal, "out" | "style">,
): void {
  const often = launchEvery > 0 ? `, and a launch every ${formatDuration(launchEvery)}` : "";
  out(
    `A stand-in cluster with three nodes, holds of ${formatDuration(hold)}${often}. Try in another terminal:\n`,
  );
  for (const line of [
    `export KUBECONFIG=${kubeconfig}`,
    "kubectl get nodes -L karpenter-node-holder/hold --watch",
    "kubectl label node bert karpenter-node-holder/hold-    # the annotation is yours now: no release takes it",
    `kubectl annotate node bert ${annotation}-    # and taken off again by you`,
    "kubectl label node cleo karpenter-node-holder/hold=never --overwrite    # left out of every hold",
    `kubectl annotate node cleo ${annotation}-    # which was yours from then on, and would stay`,
  ])
    out(`  ${style("cyan", line)}`);
  out(`\nThe live timeline: ${style("cyan", url)}\n`);
}
