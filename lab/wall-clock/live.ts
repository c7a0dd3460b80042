import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { formatDuration, parseDuration, seconds } from "../../lambda/core/duration.ts";
import { systemClock } from "../../lambda/system-clock.ts";
import { LivePage } from "../../local/page/live-page.ts";
import { World } from "../../test/real/worlds/world.ts";
import { traceOf } from "../days/traces/names.ts";
import { serviceObject, smallNodes } from "./cluster-objects.ts";
import { startHolder } from "./holder.ts";
import { JobRunner } from "./job-runner.ts";
import { Observer } from "./observer.ts";

// `npm start -- --real` starts this file as a process of its own.
const hold = parseDuration(process.argv[2] ?? "") ?? seconds(60);

const print = (line: string) => process.stdout.write(`${line}\n`);
const closing: (() => Promise<unknown>)[] = [];
let isStopping = false;
const stop = () => {
  // The second signal ends it at once.
  if (isStopping) process.exit(1);
  isStopping = true;
};
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
process.once("disconnect", stop);
process.channel?.unref();

try {
  await live();
} finally {
  for (const close of closing.toReversed()) await close();
}

async function live(): Promise<void> {
  print("Starting etcd, an API server, a scheduler, controllers and Karpenter …");
  const world = await World.start();
  closing.push(() => world.stop());
  const folder = await mkdtemp(join(tmpdir(), "karpenter-node-holder-"));
  closing.push(() => rm(folder, { recursive: true, force: true }));
  const observer = new Observer();
  closing.push(() => observer.stop());
  await world.apply(...smallNodes({ consolidateAfter: "0s" }));
  await observer.start(world);
  const settings = { hold: formatDuration(hold), sweepEvery: "1m" };
  const holder = await startHolder({ world, observer, folder, settings });
  closing.push(() => holder.stop());
  const page = await LivePage.start({
    events: observer,
    clock: systemClock,
    title: "A holder at work on real Karpenter",
    about: `Bursts of jobs beside services that always run. Each launch holds every node for ${formatDuration(hold)}.`,
  });
  closing.push(() => page.stop());
  print(`\nThe live timeline: ${page.url}`);
  print(`export KUBECONFIG=${world.plane.kubeconfig("admin")}`);
  print("kubectl get nodes -L karpenter-node-holder/hold --watch\n\nCtrl-C stops everything.");
  await workUntilStopped(world, observer);
}

async function workUntilStopped(world: World, observer: Observer): Promise<void> {
  for (let seed = 1; !isStopping; seed++) {
    const { services, jobs, lasts } = traceOf("dense", seed);
    for (const service of services) await world.apply(serviceObject(service));
    const runner = new JobRunner(world, observer, jobs);
    const begin = performance.now();
    const elapsed = () => performance.now() - begin;
    while (!isStopping && (runner.unfinished > 0 || elapsed() < seconds(lasts))) {
      await runner.advance(elapsed());
      await pause(300);
    }
  }
}
