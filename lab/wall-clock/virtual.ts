import { seconds } from "../../lambda/core/duration.ts";
import { labVersions } from "../../test/real/engines/build-lab.ts";
import { armOf } from "../days/arms.ts";
import { type EngineConfig, engineConfig } from "../days/config.ts";
import { playEngine } from "../days/play-engine.ts";
import { traceOf } from "../days/traces/names.ts";
import type { InstanceType } from "../days/worlds.ts";
import { randomOf } from "../random.ts";
import { type Agreement, agreementOf, type Counted } from "./agreement.ts";
import { beginOf, figuresOf } from "./figures.ts";
import { type Played, tick } from "./play.ts";

/** The nodes of the wall clock's cluster, as Karpenter's kwok provider makes them. */
const kwokTypes: readonly InstanceType[] = [2, 4].map((cpu) => ({
  name: `c-${cpu}x`,
  cpu,
  memory: `${2 * cpu}Gi`,
  pods: 16 * cpu,
  price: 0.019 * cpu,
  reservedCpu: "100m",
  reservedMemory: "10Mi",
}));

/** Plays on the virtual clock, so many times, what was played on the wall clock: with its arm, or with another one. */
export async function playInVirtualTime(
  played: Played,
  chances: number,
  arm = played.arm,
): Promise<readonly Counted[]> {
  const counted: Counted[] = [];
  for (let chance = 1; chance <= chances; chance++) counted.push(await playOnce({ ...played, arm }, chance));
  return counted;
}

/** `chance` is the engine's seed. */
async function playOnce(played: Played, chance: number): Promise<Counted> {
  const { result, holder } = await playEngine({
    karpenter: labVersions[0] ?? "",
    config: configOf(played, chance),
    settings: armOf(played.arm)?.holder,
  });
  const [error] = holder?.errors ?? [];
  if (error) throw new Error(`the holder logged an error: ${error}`);
  const { nodeMinutes, launched, evicted, jobsKilled, wait95 } = result;
  return { nodeMinutes, launched, evicted: evicted + jobsKilled, wait95 };
}

/** Compares what was played on the wall clock with its plays in virtual time. */
export function compare(played: Played, virtual: readonly Counted[]): Agreement {
  const { nodeMinutes, launched, servicePodsEvicted, jobsRestarted, wait95th = 0 } = figuresOf(played);
  const wall = { nodeMinutes, launched, evicted: servicePodsEvicted + jobsRestarted, wait95: wait95th };
  return agreementOf(wall, virtual);
}

/** How the cluster of the wall clock differs from the lab's: times in seconds. */
const ofWallClock = {
  imagePull: [0, 0],
  batch: [1, 2],
  podStop: 1,
  jobRetry: 1,
  // The scheduler of Kubernetes 1.36 gives a pod to the first of equal nodes.
  ties: "first",
} as const;

/** The same work at the same times on the same nodes, as they really were on the wall clock. */
export function configOf(played: Played, chance: number): EngineConfig & typeof ofWallClock {
  const { from, to } = played;
  const arm = armOf(played.arm);
  if (!arm) throw new Error(`there is no arm ${played.arm}`);
  const trace = traceOf(played.trace, played.seed);
  const { begunBefore, boot } = beginOf(played);
  const services = trace.services.map(({ replicas, changes = [], ...service }) => ({
    ...service,
    replicas: 0,
    changes: [{ at: -begunBefore, replicas }, ...changes],
    unavailable: 0,
  }));
  const random = randomOf(chance);
  const late = () => (random() * tick) / seconds(1);
  // Jobs begin and end with a tick, and a pod that is deleted at its end uses its room until it has stopped.
  const jobs = trace.jobs.map((job) => ({
    ...job,
    at: job.at + late(),
    runs: job.runs + late() + ofWallClock.podStop,
  }));
  const lasts = (to.getTime() - from.getTime()) / seconds(1);
  const types = kwokTypes;
  const config = engineConfig({ trace: { ...trace, lasts, services, jobs }, arm, types, seed: chance });
  return {
    ...config,
    ...ofWallClock,
    // One-shots come at round times.
    start: from.toISOString(),
    warmup: begunBefore + 15,
    boot,
    ...(arm.holder && { holder: { launchEventDelay: [0.1, 0.5] } }),
  };
}
