import { after, earlier, hours, minutes } from "../../lambda/core/duration.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import { type Account, type History, type Lived, median, titled } from "./history.ts";
import { type InstanceEvent, livedIn } from "./lives.ts";
import type { KubernetesEvent } from "./objects.ts";
import { type ClusterFacts, isMissing, orNone } from "./read.ts";

/** A node that is launched so soon after another was removed was needed again. */
const soonAgain = minutes(10);

/** What is in the cluster itself: its events, Karpenter's log (or a saved one), and Karpenter's metrics. */
export function accountsOf(facts: ClusterFacts, log: History | undefined): readonly Account[] {
  return [
    ...(isMissing(facts.events) ? [] : [fromEvents(facts, facts.events)]),
    ...(log ? [fromLog(log)] : []),
    ...(isMissing(facts.metrics) ? [] : [fromMetrics(facts.metrics.text, facts)]),
  ];
}

const momentOf = ({ eventTime, lastTimestamp, firstTimestamp }: KubernetesEvent): Date | undefined =>
  eventTime ?? lastTimestamp ?? firstTimestamp ?? undefined;

/** The API server keeps events for an hour by default. */
const usualRetention = hours(1);

function fromEvents(facts: ClusterFacts, events: readonly KubernetesEvent[]): Account {
  const dated = events.flatMap((event) => {
    const at = momentOf(event);
    return at ? [{ ...event.involvedObject, reason: event.reason, message: event.message, at }] : [];
  });
  // Karpenter writes some events in every hour; without any, they are under another name, or not kept.
  if (dated.length === 0) return { source: "events" };
  const from = dated.map(({ at }) => at).reduce(earlier, after(facts.readAt, -usualRetention));
  const ofClaims = dated.filter(({ kind }) => kind === "NodeClaim");
  // An event does not name it, so nothing is known of nodes that were needed again.
  const nodePool = "";
  const launched = new Map(
    ofClaims.filter(({ reason }) => reason === "Launched").map(({ name, at }) => [name, at]),
  );
  for (const { metadata } of orNone(facts.nodeClaims))
    if (metadata.creationTimestamp >= from) launched.set(metadata.name, metadata.creationTimestamp);
  const removals = ofClaims
    .filter(({ reason }) => reason === "DisruptionTerminating")
    .map(({ name, message, at }) => ({ node: name, nodePool, at, reason: reasonIn(message) }));
  // Karpenter 1.15 leaves out the name of what is gone.
  const ended = new Set(
    ofClaims.filter(({ reason, name }) => reason === "Finalized" && name !== "").map(({ name }) => name),
  );
  const evicted = dated.filter(
    ({ kind, reason }) => kind === "Pod" && (reason === "Evicted" || reason === "Disrupted"),
  );
  const pods = new Set(evicted.map(({ namespace, name }) => `${namespace}/${name}`));
  const { neededAgain: _, ...known } = summaryOf({
    launches: [...launched].map(([node, at]) => ({ node, nodePool, at })),
    // An event that is written again is one removal.
    removals: [...new Map(removals.map((removal) => [removal.node, removal])).values()],
    ended: [...ended],
  });
  return {
    ...{ source: "events", from, ...known, evicted: pods.size },
    ...(!isMissing(facts.jobs) && { jobsKilled: jobsAmong(pods, facts) }),
  };
}

/** "Disrupting NodeClaim: Underutilized"; up to version 1.0 with what is done: "Underutilized/replace". */
const reasonIn = (message: string): string => titled(message.split(": ").at(-1)?.split("/", 1)[0] ?? "");

/** Pods of Jobs that are still there: they carry the Job's name. Those of a Job that is gone are not found. */
function jobsAmong(pods: ReadonlySet<string>, { jobs }: ClusterFacts): number {
  const names = new Set(orNone(jobs).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
  const ofJob = (pod: string) =>
    [/-[a-z0-9]{5}$/, /-\d+-[a-z0-9]{5}$/].some((end) => names.has(pod.replace(end, "")));
  return [...pods].filter(ofJob).length;
}

export const fromLog = (history: History): Account => ({
  ...{ source: "log", from: history.from, until: history.until },
  ...summaryOf(history),
  evicted: Math.round(history.removals.reduce((sum, { pods }) => sum + pods, 0)),
});

/** CloudTrail names no reason and no pod. */
export function fromCloudTrail(events: readonly InstanceEvent[], from: Date): Account {
  const { byReason: _, ...known } = summaryOf(livedIn(events, from));
  return { source: "CloudTrail", from, ...known };
}

/** What is the same for every source that has single nodes. */
function summaryOf({ launches, removals, ended }: Lived) {
  const chosen = new Set(removals.map(({ node }) => node));
  const others = ended.filter((node) => !chosen.has(node)).map(() => "Other");
  const launchedAt = new Map(launches.map(({ node, at }) => [node, at.getTime()]));
  const lives = removals.map(({ node, at }) => at.getTime() - (launchedAt.get(node) ?? Number.NaN));
  // Only of those of which both ends are known.
  const lifetime = median(lives.filter((life) => life >= 0));
  return {
    launched: launches.length,
    removed: removals.length + others.length,
    byReason: counted([...removals.map(({ reason }) => reason), ...others]),
    ...(lifetime !== undefined && { lifetime }),
    neededAgain: pairsOf(
      removals,
      launches.filter(({ isReplacement }) => !isReplacement),
    ),
  };
}

type InPool = Readonly<{ nodePool: string; at: Date }>;

/** Ends that are followed by the launch of a node in the same NodePool soon after, paired one to one. */
export function pairsOf(ends: readonly InPool[], launches: readonly InPool[]): number {
  const byTime = (all: readonly InPool[]) => all.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const waiting = Map.groupBy(byTime(ends), ({ nodePool }) => nodePool);
  let pairs = 0;
  for (const { nodePool, at } of byTime(launches)) {
    const open = waiting.get(nodePool) ?? [];
    // The oldest that still counts: no other choice makes more pairs.
    while (open[0] && after(open[0].at, soonAgain) < at) open.shift();
    if (!open[0] || open[0].at > at) continue;
    open.shift();
    pairs += 1;
  }
  return pairs;
}

function counted(reasons: readonly string[]): Readonly<Record<string, number>> {
  const groups = Object.entries(Object.groupBy(reasons, (reason) => reason));
  return Object.fromEntries(groups.map(([reason, all]) => [reason, all?.length ?? 0]));
}

const line = /^karpenter_(\w+)(?:\{([^}]*)\})? (\S+)/gm;

/** Counters since Karpenter's start. Those of pods exist from version 1.15 on. */
function fromMetrics(text: string, { metrics, karpenter }: ClusterFacts): Account {
  const sums = new Map<string, Map<string, number>>();
  for (const [, name = "", labels = "", value] of text.matchAll(line)) {
    const reason = /(?:^|,)reason="([^"]*)"/.exec(labels)?.[1] ?? "";
    const sum = sums.get(name) ?? new Map<string, number>();
    sums.set(name, sum.set(reason, (sum.get(reason) ?? 0) + Number(value)));
  }
  const all = (name: string) => [...(sums.get(name)?.values() ?? [])].reduce((a, b) => a + b, 0);
  const chosen = [...(sums.get("nodeclaims_disrupted_total") ?? [])];
  const byReason = new Map<string, number>();
  for (const [name, count] of chosen) {
    const reason = ["Empty", "Underutilized", "Drifted"].find((one) => one === titled(name)) ?? "Other";
    byReason.set(reason, (byReason.get(reason) ?? 0) + count);
  }
  const pods = ["pods_disruption_initiated_total", "pods_disrupted_total"].filter((name) => sums.has(name));
  // A counter appears with its first count: before the first disruption, there was none.
  const countsPods = pods.length > 0 || (!isMissing(karpenter) && karpenter >= 15 && chosen.length === 0);
  const since = isMissing(metrics) ? undefined : metrics.since;
  return {
    source: "metrics",
    ...(since && { from: since }),
    launched: all("nodeclaims_created_total"),
    removed: all("nodeclaims_terminated_total"),
    byReason: Object.fromEntries(byReason),
    ...(countsPods && { evicted: pods.reduce((sum, name) => sum + all(name), 0) }),
  };
}

/** The nodes that are there now. */
export type Present = Readonly<{ nodes: number; medianAge?: number; youngerThanHour: number }>;

export function presentNodes({ nodeClaims, nodes, readAt }: ClusterFacts): Present | undefined {
  const { poolLabel } = Karpenter.v1;
  const ofKarpenter = orNone(nodes).filter(({ metadata }) => metadata.labels[poolLabel] !== undefined);
  const all = isMissing(nodeClaims) ? ofKarpenter : nodeClaims;
  if (isMissing(nodeClaims) && isMissing(nodes)) return undefined;
  const ages = all.map(({ metadata }) => readAt.getTime() - metadata.creationTimestamp.getTime());
  const medianAge = median(ages);
  return {
    nodes: all.length,
    ...(medianAge !== undefined && { medianAge }),
    youngerThanHour: ages.filter((age) => age < hours(1)).length,
  };
}
