import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { formatDuration, seconds } from "../../lambda/core/duration.ts";
import type { Run } from "../../local/run/run.ts";
import type { TimelineEvent } from "../../report/timeline/events.ts";
import { World } from "../../test/real/worlds/world.ts";
import { type ArmName, armOf } from "./arms.ts";
import { churnPool, serviceObject } from "./cluster-objects.ts";
import { startHolder } from "./holder.ts";
import { JobRunner } from "./job-runner.ts";
import { Observer } from "./observer.ts";
import { type TraceName, traceOf } from "./traces.ts";

/** What to run; `hold` in milliseconds, `share` of the trace's time for a short run. */
export type Trial = Readonly<{ trace: TraceName; arm: ArmName; seed: number; hold: number; share: number }>;

/** What one arm recorded; `from` and `to` bound what is counted. */
export type ArmRecord = Trial &
  Readonly<{
    from: Date;
    to: Date;
    /** Jobs that had not finished at the end. */
    unfinished: number;
    events: readonly TimelineEvent[];
    /** How long each pod waited for a node, in milliseconds. */
    waits: readonly number[];
    /** How long it took until every drifted node was replaced; undefined if it was not finished. */
    driftDone?: number;
  }>;

const tick = 300;
const driftAlone = [{ nodes: "0", reasons: ["Empty", "Underutilized"] }];

/** Runs one trace in one arm on a fresh cluster with real Karpenter. */
export async function runArm(trial: Trial, onProgress: (share: number) => void): Promise<ArmRecord> {
  const trace = traceOf(trial.trace, trial.seed);
  const arm = armOf(trial.arm);
  const pool = arm.pool(formatDuration(trial.hold));
  const forDrift = trace.driftsAt === undefined ? [] : [{ nodes: "1", reasons: ["Drifted"] }];
  const others = trace.driftAlone ? driftAlone : (pool.budgets ?? [{ nodes: "100%" }]);
  const budgets = [...others, ...forDrift];
  const world = await World.start(arm.karpenter);
  const folder = await mkdtemp(join(tmpdir(), "churn-"));
  const observer = new Observer();
  let holder: Run | undefined;
  try {
    const apply = (labels: Record<string, string>) => world.apply(...churnPool({ ...pool, budgets, labels }));
    await apply({});
    await observer.start(world);
    if (arm.holder) {
      holder = await startHolder({ world, observer, folder, hold: trial.hold, settings: arm.holder });
    }
    for (const service of trace.services) await world.apply(serviceObject(service));
    await world.untilPodsRun();
    const from = new Date();
    const drifted = trace.driftsAt === undefined ? undefined : new DriftedNodes(world);
    const jobs = new JobRunner(world, observer, trace.jobs);
    const steps = [
      ...(drifted
        ? [{ at: trace.driftsAt ?? 0, act: () => drifted.begin(() => apply({ generation: "2" })) }]
        : []),
      ...trace.services.flatMap((service) =>
        (service.changes ?? []).map(({ at }, i) => ({
          at,
          act: () => world.apply(serviceObject(service, i + 1)),
        })),
      ),
    ];
    const end = seconds(trace.lasts) * trial.share;
    const begin = performance.now();
    for (let now = 0; now < end; now = performance.now() - begin) {
      for (const step of steps.splice(0)) {
        if (seconds(step.at) <= now) await step.act();
        else steps.push(step);
      }
      await jobs.advance(now);
      await drifted?.check();
      onProgress(now / end);
      await pause(tick);
    }
    const driftDone = drifted?.took;
    return {
      ...trial,
      from,
      to: new Date(),
      unfinished: jobs.unfinished,
      events: [...observer.events],
      waits: observer.waits(),
      ...(driftDone !== undefined && { driftDone }),
    };
  } finally {
    await holder?.stop();
    await observer.stop();
    await world.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The nodes that existed when the template changed, and how long it takes until all of them are gone. */
class DriftedNodes {
  readonly #world: World;
  #names: readonly string[] = [];
  #begin = 0;
  took: number | undefined;

  constructor(world: World) {
    this.#world = world;
  }

  async begin(change: () => Promise<void>): Promise<void> {
    this.#names = await this.#world.names();
    this.#begin = performance.now();
    await change();
  }

  async check(): Promise<void> {
    if (this.#begin === 0 || this.took !== undefined) return;
    const present = await this.#world.names();
    if (!this.#names.some((name) => present.includes(name))) this.took = performance.now() - this.#begin;
  }
}
