import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { formatDuration } from "../../lambda/core/duration.ts";
import type { Run } from "../../local/run/run.ts";
import type { TimelineEvent } from "../../report/timeline/events.ts";
import { World } from "../../test/real/worlds/world.ts";
import { churnPool, serviceObject } from "./cluster-objects.ts";
import { startHolder } from "./holder.ts";
import { JobRunner } from "./job-runner.ts";
import { Observer } from "./observer.ts";
import type { Workload } from "./workload.ts";

/** The ways the same work is run. */
export const arms = {
  without: "without the holder",
  holder: "with the holder",
  "consolidate-after": "with Karpenter's own consolidateAfter",
} as const;
export type Arm = keyof typeof arms;

/** What all arms have in common; times in milliseconds. */
export type Trial = Readonly<{ workload: Workload; minute: number; minutes: number; hold: number }>;

/** What one arm saw; `from` and `to` bound what is counted. */
export type ArmRecord = Readonly<{
  arm: Arm;
  from: Date;
  to: Date;
  /** Jobs that were still to do at the end. */
  unfinished: number;
  events: readonly TimelineEvent[];
}>;

const lookEvery = 300;

/** Runs the work on a fresh cluster with real Karpenter and writes down what happens. */
export async function runArm(arm: Arm, trial: Trial): Promise<ArmRecord> {
  const world = await World.start();
  const folder = await mkdtemp(join(tmpdir(), "churn-"));
  const observer = new Observer();
  let holder: Run | undefined;
  try {
    const ownDelay = arm === "consolidate-after" ? trial.hold : 0;
    await world.apply(...churnPool(formatDuration(ownDelay)));
    await observer.start(world);
    if (arm === "holder") holder = await startHolder(world, observer, trial.hold, folder);
    const from = new Date();
    await world.apply(...trial.workload.services.map(serviceObject));
    const unfinished = await work(new JobRunner(world, observer, trial.workload.jobs, trial.minute), trial);
    return { arm, from, to: new Date(), unfinished, events: [...observer.events] };
  } finally {
    await holder?.stop();
    await observer.stop();
    await world.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function work(jobs: JobRunner, { minute, minutes }: Trial): Promise<number> {
  const begin = performance.now();
  const elapsed = () => performance.now() - begin;
  while (elapsed() < minutes * minute) {
    await jobs.look(elapsed());
    await pass(lookEvery);
  }
  return jobs.unfinished;
}
