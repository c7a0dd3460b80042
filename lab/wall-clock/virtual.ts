import { seconds } from "../../lambda/core/duration.ts";
import { labVersions } from "../../test/real/engines/build-lab.ts";
import { armOf } from "../days/arms.ts";
import { type EngineConfig, engineConfig } from "../days/config.ts";
import { playEngine } from "../days/play-engine.ts";
import { traceOf } from "../days/traces/names.ts";
import type { Job } from "../days/traces/trace.ts";
import type { InstanceType } from "../days/worlds.ts";
import { randomOf } from "../random.ts";
import { type Agreement, agreementOf, type Counted } from "./agreement.ts";
import { beginOf, figuresOf, firstRunOn } from "./figures.ts";
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
    // The holder on the wall clock sets timers of its own, which are on time.
    lateness: () => 0,
  });
  const [error] = holder?.errors ?? [];
  if (error) throw new Error(`the holder logged an error: ${error}`);
  const { nodeMinutes, launched, evicted, jobsKilled, driftSeconds } = result;
  const drift = typeof driftSeconds === "number" && { driftSeconds };
  return { nodeMinutes, launched, evicted: evicted + jobsKilled, ...drift };
}

/** Compares what was played on the wall clock with its plays in virtual time. */
export function compare(played: Played, virtual: readonly Counted[]): Agreement {
  const { servicePodsEvicted, jobsRestarted, ...wall } = figuresOf(played);
  return agreementOf({ ...wall, evicted: servicePodsEvicted + jobsRestarted }, virtual);
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

/** The play of a machine that is never late: everything comes when the trace says. */
export function asPlanned(played: Played): Played {
  const pods = played.pods.map(({ job: _, ...pod }) => pod);
  return { ...played, pods, made: traceOf(played.trace, played.seed) };
}

/** The same work at the same times on the same nodes, as they really were on the wall clock. */
export function configOf(played: Played, chance: number): EngineConfig & typeof ofWallClock {
  const { from, to } = played;
  const arm = armOf(played.arm);
  if (!arm) throw new Error(`there is no arm ${played.arm}`);
  const trace = traceOf(played.trace, played.seed);
  const { begunBefore, boot } = beginOf(played);
  const services = played.made.services.map(({ replicas, changes = [], ...service }) => ({
    ...service,
    replicas: 0,
    changes: [{ at: -begunBefore, replicas }, ...changes],
    unavailable: 0,
  }));
  const { drifts } = played.made;
  const random = randomOf(chance);
  const jobs = trace.jobs.map((job) => asItWas(job, played, () => (random() * tick) / seconds(1)));
  const lasts = (to.getTime() - from.getTime()) / seconds(1);
  const types = kwokTypes;
  const config = engineConfig({
    trace: { ...trace, lasts, services, jobs, drifts },
    arm,
    types,
    seed: chance,
  });
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

/**
 * A job at the time when its first pod was created, for as long as the last one used its room: on a busy machine both are
 * late, and nodes are launched for it. What had not begun or ended is as it should be: it begins and ends with a tick, and
 * a pod that is deleted at its end uses its room until it has stopped.
 */
function asItWas(job: Job, played: Played, late: () => number): Job {
  const pods = played.pods.filter((pod) => pod.job === job.name);
  const [first, last] = [pods[0], pods.at(-1)];
  const inSeconds = (from: Date, to: Date) => (to.getTime() - from.getTime()) / seconds(1);
  const at = first ? inSeconds(played.from, first.created) : job.at + late();
  const planned = job.runs + late() + ofWallClock.podStop;
  if (!last?.bound || !last.running) return { ...job, at, runs: planned };
  // A node's first pod waits until it has booted, which is counted with the node.
  const booted = firstRunOn(last.node, played) ?? last.running;
  const since = last.bound > booted ? last.bound : booted;
  return {
    ...job,
    at,
    runs: last.gone ? inSeconds(since, last.gone) : Math.max(planned, inSeconds(since, played.to)),
  };
}
