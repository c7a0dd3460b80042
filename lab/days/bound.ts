import { amountOf, gibOf } from "./traces/quantity.ts";
import type { Trace } from "./traces/trace.ts";
import { type Amount, basePrice, type InstanceType, roomOf } from "./worlds.ts";

/*
 * The least that could be paid for a trace by somebody who knows the future, packs pods perfectly, evicts nobody, needs no
 * time to boot a node, and runs every pod from the moment at which the trace creates it.
 *
 * It is a bound for everybody who runs each pod at its time, whatever nodes they use. Not in it are: the pods that a rollout
 * runs beside those it replaces, drift, interruptions, selectors of NodePools and other rules of scheduling, and the room
 * that is lost because pods are not divisible. Who lets pods wait could pay less in theory.
 */

/** From `at` on, until the next one, in seconds. */
export type Step = Readonly<{ at: number }> & Amount;

/** What the pods of a trace request over time. */
export function demandOf({ services, jobs, lasts }: Trace): readonly Step[] {
  const changes: { at: number; pods: number; cores: number; gib: number }[] = [];
  const add = (
    at: number,
    pods: number,
    pod: Readonly<{ cpu: string | number; memory?: string | number | undefined }>,
  ) => changes.push({ at, pods, cores: pods * amountOf(pod.cpu), gib: pods * gibOf(pod.memory) });
  for (const service of services) {
    let present = service.replicas;
    add(0, present, service);
    for (const { at, replicas = present } of service.changes ?? []) {
      add(at, replicas - present, service);
      present = replicas;
    }
  }
  for (const job of jobs) {
    add(job.at, 1, job);
    add(job.at + job.runs, -1, job);
  }
  let sum: Amount = { cores: 0, gib: 0, pods: 0 };
  const steps: Step[] = [{ at: 0, ...sum }];
  for (const { at, cores, gib, pods } of changes.toSorted((a, b) => a.at - b.at)) {
    if (at >= lasts) break;
    sum = { cores: sum.cores + cores, gib: sum.gib + gib, pods: sum.pods + pods };
    if (steps.at(-1)?.at === at) steps.pop();
    steps.push({ at, ...sum });
  }
  return steps;
}

/**
 * The least cost in minutes of a node of 8 cores. Needed cores, at the least price there is for one, are cut into levels as
 * large as the smallest node. Each level is paid for while it is needed, and in each pause between it costs the pause or a
 * launch, whichever is less; the first time above what the trace began with costs a launch. A level's launch costs its share
 * of the largest node's, because that one launches the most levels at once.
 */
export function leastCost(trace: Trace, types: readonly InstanceType[], launch: number): number {
  const unit = Math.min(...types.map(({ cpu }) => cpu));
  const largest = Math.max(...types.map(({ cpu }) => cpu));
  const need = neededCores(trace, types);
  const steps = demandOf(trace).map((step) => ({ at: step.at, levels: Math.ceil(need(step) / unit - 1e-9) }));
  const perLaunch = (launch * unit) / largest;
  const ofUnit = unit * Math.min(...types.map(({ cpu, price }) => price / cpu));
  const minutesOf = (from: number, to: number) => (((to - from) / 60) * ofUnit) / basePrice;
  const endedAt: (number | undefined)[] = [];
  let [cost, present] = [0, steps[0]?.levels ?? 0];
  steps.forEach(({ at, levels }, i) => {
    for (let level = present; level < levels; level++) {
      const since = endedAt[level];
      cost += since === undefined ? perLaunch : Math.min(perLaunch, minutesOf(since, at));
    }
    for (let level = levels; level < present; level++) endedAt[level] = at;
    cost += levels * minutesOf(at, steps[i + 1]?.at ?? trace.lasts);
    present = levels;
  });
  return cost;
}

/** The cores of nodes that an amount of pods needs at least: of each resource what the best type has of it for a core. */
function neededCores({ daemons }: Trace, types: readonly InstanceType[]): (amount: Amount) => number {
  const best = (of: keyof Amount) => Math.max(...types.map((type) => roomOf(type, daemons)[of] / type.cpu));
  const [cores, gib, pods] = [best("cores"), best("gib"), best("pods")];
  return (amount) => Math.max(amount.cores / cores, amount.gib / gib, amount.pods / pods);
}
