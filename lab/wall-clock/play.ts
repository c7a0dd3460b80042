import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { seconds } from "../../lambda/core/duration.ts";
import type { Run } from "../../local/run/run.ts";
import type { TimelineEvent } from "../../report/timeline/events.ts";
import { World } from "../../test/real/worlds/world.ts";
import { armOf } from "../days/arms.ts";
import { engineConfig } from "../days/config.ts";
import { traceOf } from "../days/traces/names.ts";
import type { Trace } from "../days/traces/trace.ts";
import { typesOf } from "../days/worlds.ts";
import { serviceObject, smallNodes } from "./cluster-objects.ts";
import { startHolder } from "./holder.ts";
import { JobRunner } from "./job-runner.ts";
import { Observer, type PodTimes } from "./observer.ts";

/** What to play: a short trace and an arm of the lab by name; `share` of the trace's time for a short run. */
export type Trial = Readonly<{
  trace: string;
  arm: string;
  seed: number;
  share: number;
}>;

/** What one arm recorded; `from` and `to` bound what is counted. */
export type Played = Trial &
  Readonly<{
    from: Date;
    to: Date;
    events: readonly TimelineEvent[];
    pods: readonly PodTimes[];
    /** The trace's, at the times when they really were made: a busy machine makes them late. */
    made: Pick<Trace, "services" | "drifts">;
    /** How long it took until every drifted node was replaced; undefined if it was not finished. */
    driftDone?: number;
  }>;

/** How often what is due begins and ends, in milliseconds. */
export const tick = 300;

/** Plays a short trace on the wall clock, on a fresh cluster with real Karpenter, scheduler and API server. */
export async function playOnWallClock(trial: Trial): Promise<Played> {
  const { seed } = trial;
  const trace = traceOf(trial.trace, seed);
  const arm = armOf(trial.arm);
  if (!arm) throw new Error(`there is no arm ${trial.arm}`);
  const [pool] = engineConfig({ trace, arm, types: typesOf("four"), seed }).pools;
  if (!pool) throw new Error(`${trial.arm} has no NodePool`);
  const { consolidateAfter, consolidationPolicy, budgets } = pool;
  const world = await World.start();
  const folder = await mkdtemp(join(tmpdir(), "wall-clock-"));
  const observer = new Observer();
  let holder: Run | undefined;
  try {
    const apply = (labels: Record<string, string>) =>
      world.apply(...smallNodes({ consolidateAfter, consolidationPolicy, budgets, labels }));
    await apply({});
    await observer.start(world);
    if (arm.holder) {
      holder = await startHolder({ world, observer, folder, settings: arm.holder });
    }
    // Together, because Karpenter would launch other nodes for pods that come one service after the other.
    await world.apply(...trace.services.map((service) => serviceObject(service)));
    await world.untilPodsRun();
    const from = new Date();
    const [drift] = trace.drifts;
    const drifted = drift && new DriftedNodes(world);
    const jobs = new JobRunner(world, observer, trace.jobs);
    const made = structuredClone({ services: trace.services, drifts: trace.drifts });
    const steps = [
      ...(drifted
        ? made.drifts
            .slice(0, 1)
            .map((step) => ({ step, act: () => drifted.begin(() => apply({ generation: "2" })) }))
        : []),
      ...trace.services.flatMap((service, which) =>
        (made.services[which]?.changes ?? []).map((step, i) => ({
          step,
          act: () => world.apply(serviceObject(service, i + 1)),
        })),
      ),
    ];
    const end = seconds(trace.lasts) * trial.share;
    const begin = performance.now();
    for (let now = 0; now < end; now = performance.now() - begin) {
      for (const one of steps.splice(0)) {
        if (seconds(one.step.at) > now) {
          steps.push(one);
          continue;
        }
        await one.act();
        one.step.at = (performance.now() - begin) / seconds(1);
      }
      await jobs.advance(now);
      await drifted?.check();
      await pause(tick);
    }
    const driftDone = drifted?.took;
    return {
      ...trial,
      from,
      to: new Date(),
      events: [...observer.events],
      pods: observer.podTimes,
      made,
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
