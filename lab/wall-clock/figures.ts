import { minutes, seconds } from "../../lambda/core/duration.ts";
import { eventsOf, type TimelineEvent } from "../../report/timeline/events.ts";
import type { Played } from "./play.ts";

/** Counts one arm's record; the drift in seconds, where there is one. Nodes that existed before it began are not launches of the trace. */
export function figuresOf(record: Played) {
  const { events, from, to } = record;
  const counted = events.filter(({ at }) => at >= from);
  const evictions = eventsOf(counted, "pod evicted");
  const evicted = evictions.map(({ pod }) => pod);
  const byNode = Map.groupBy(evictions, ({ node }) => node);
  const isJob = (pod: string) => pod.startsWith("job-");
  return {
    launched: eventsOf(counted, "node joined").length,
    servicePodsEvicted: evicted.filter((pod) => !isJob(pod)).length,
    jobsRestarted: evicted.filter(isJob).length,
    evictedFromOne: Math.max(0, ...[...byNode.values()].map((pods) => pods.length)),
    nodeMinutes: round(nodeTime(events, from, to) / minutes(1)),
    driftDone: inSeconds(record.driftDone),
  };
}

/** The time that nodes existed between two moments, in milliseconds. */
function nodeTime(events: readonly TimelineEvent[], from: Date, to: Date): number {
  const gone = new Map(eventsOf(events, "node gone").map(({ node, at }) => [node, at]));
  return eventsOf(events, "node joined").reduce((sum, { node, at }) => {
    const begin = Math.max(at.getTime(), from.getTime());
    const end = Math.min((gone.get(node) ?? to).getTime(), to.getTime());
    return sum + Math.max(0, end - begin);
  }, 0);
}

/** When the first pod ran on a node. */
export function firstRunOn(node: string | undefined, { pods }: Pick<Played, "pods">): Date | undefined {
  const times = pods.flatMap((pod) => (pod.node === node && pod.running ? [pod.running.getTime()] : []));
  return times.length > 0 ? new Date(Math.min(...times)) : undefined;
}

/** How long before the counting began the first pods were there, and how long most nodes took until pods ran; in seconds. */
export function beginOf(record: Played): Readonly<{ begunBefore: number; boot: [number, number] }> {
  const { events, from } = record;
  const joined = eventsOf(events, "node joined");
  const first = Math.min(...joined.map(({ at }) => at.getTime()));
  const boots = joined.flatMap(({ node, at }) => {
    const running = firstRunOn(node, record);
    return running ? [running.getTime() - at.getTime()] : [];
  });
  const sorted = boots.toSorted((a, b) => a - b);
  // Some wait longer for their first pod.
  const bootOf = (share: number) => (quantile(sorted, share) ?? seconds(1)) / seconds(1);
  return { begunBefore: (from.getTime() - first + batch) / seconds(1), boot: [bootOf(0.1), bootOf(0.9)] };
}

/** Karpenter launches nodes so long after it has seen the first pod that needs one. */
const batch = seconds(1.5);

/** The value below which this share of the sorted values lies; undefined without values. */
const quantile = (sorted: readonly number[], share: number): number | undefined =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

const round = (value: number): number => Math.round(value * 10) / 10;

const inSeconds = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : round(milliseconds / 1_000);
