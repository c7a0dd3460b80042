import { after, type Duration, earlier, formatDuration, later } from "./duration.ts";
import type { Rules } from "./rules.ts";

/** With `mode=observe`, what became of nodes that would be held, and what a hold would have changed. */
export type Observed = Readonly<{
  /** How many of them were removed. */
  removed: number;
  /** The pods on those when they were last counted, without those of DaemonSets. */
  evicted: number;
  /** How many of those nobody could count the pods of. */
  uncounted: number;
  /** How much longer a hold would have kept them at most, in milliseconds of one node. */
  nodeTime: Duration;
  /** Launches in that time, which a hold would perhaps have spared. */
  relaunched: number;
}>;

/** With `mode=observe`, what is remembered from one pass to the next. */
export type Watched = Readonly<{
  /** The nodes that would be held, each with its pods when they were last counted. */
  nodes: Readonly<Record<string, Readonly<{ pods?: number }>>>;
  /** Until when a hold would keep each of those that were removed. */
  gone: readonly Date[];
}>;

export const nothingObserved: Observed = {
  removed: 0,
  evicted: 0,
  uncounted: 0,
  nodeTime: 0,
  relaunched: 0,
};

/** A record has room for this many nodes. */
export const mostWatched = 500;

type Facts = Readonly<{
  before?: Observed | undefined;
  watched?: Watched | undefined;
  nodes?:
    | Readonly<{
        holdable: readonly string[];
        present: ReadonlySet<string>;
        pods?: ReadonlyMap<string, number> | undefined;
      }>
    | undefined;
  /** The nodes that `hold=auto` lets go. */
  letGo?: Readonly<Record<string, unknown>> | undefined;
  /** Until when nodes would be held; undefined: they would not. */
  until: Date | undefined;
  isRequested: boolean;
  /** How many launches were counted. */
  launches: number;
  rules: Pick<Rules, "auto" | "relaunchCost" | "evictionCost">;
  now: Date;
}>;

/** What was observed by now, and what to remember where the hold would go on. */
export function observe(facts: Facts): Readonly<{ observed: Observed; watched?: Watched }> {
  const { before = nothingObserved, watched, nodes, until, launches, now } = facts;
  const went = Object.entries(watched?.nodes ?? {}).filter(([name]) => nodes && !nodes.present.has(name));
  const counts = went.map(([, { pods }]) => pods);
  const kept = (watched?.gone ?? []).filter((end) => end > now);
  const gone = [
    ...kept.map((end) => endNow(facts, end)),
    ...counts.map((pods) => keptUntil(facts, pods)),
  ].toSorted((a, b) => a.getTime() - b.getTime());
  // The node that would stay longest takes the place of a launch.
  const relaunched = Math.min(launches, gone.length);
  const left = gone.slice(0, gone.length - relaunched);
  const added = sumFrom(now, left) - sumFrom(now, kept);
  const observed: Observed = {
    removed: before.removed + went.length,
    evicted: before.evicted + counts.reduce<number>((sum, pods = 0) => sum + pods, 0),
    uncounted: before.uncounted + counts.filter((pods) => pods === undefined).length,
    nodeTime: Math.max(0, before.nodeTime + added),
    relaunched: before.relaunched + relaunched,
  };
  if (!until) return { observed };
  return { observed, watched: { nodes: watchedAfter(facts), gone: left.slice(-mostWatched) } };
}

const sumFrom = (now: Date, ends: readonly Date[]): Duration =>
  ends.reduce((sum, end) => sum + Math.max(0, end.getTime() - now.getTime()), 0);

/** A constant hold keeps all nodes to its end, which may move. */
const endNow = ({ until, rules, isRequested, now }: Facts, end: Date): Date =>
  until === undefined ? now : rules.auto && !isRequested ? earlier(end, until) : until;

/** With `hold=auto` a node that nobody needs is kept for as long as its removal is worth. */
function keptUntil({ until, rules, isRequested, now }: Facts, pods = 0): Date {
  if (until === undefined) return now;
  const { auto, relaunchCost, evictionCost } = rules;
  return auto && !isRequested ? earlier(until, after(now, relaunchCost + pods * evictionCost)) : until;
}

function watchedAfter({ nodes, watched, letGo = {} }: Facts): Watched["nodes"] {
  if (!nodes) return watched?.nodes ?? {};
  const names = nodes.holdable.filter((name) => letGo[name] === undefined).slice(0, mostWatched);
  return Object.fromEntries(
    names.map((name) => {
      const pods = nodes.pods?.get(name) ?? watched?.nodes[name]?.pods;
      return [name, pods === undefined ? {} : { pods }];
    }),
  );
}

/** What holds that only observed would have done, together. */
export type ObservedSum = Observed & Readonly<{ holds: number; nodes: number; lasted: Duration }>;

/** What was observed since the last report: by holds that ended since then, and by those that are on. */
export type ObservedWeek = ObservedSum & Readonly<{ since: Date; until: Date }>;

type ObservedHold = Readonly<{ startedAt: Date; endedAt: Date; nodes: number; observed?: Observed }>;

/** The last report, and what it had of the holds that were on. */
export type Report = Readonly<{ at: Date; observed: Readonly<Record<string, Observed>> }>;

/** What of a hold is not in that report yet. */
export function sinceReport<H extends ObservedHold & { id: string }>(hold: H, { at, observed }: Report): H {
  const reported = observed[hold.id];
  const startedAt = later(hold.startedAt, at);
  if (!hold.observed || !reported) return { ...hold, startedAt };
  return { ...hold, startedAt, observed: minus(hold.observed, reported) };
}

function minus(all: Observed, reported: Observed): Observed {
  const rest = (name: keyof Observed) => Math.max(0, all[name] - reported[name]);
  return {
    removed: rest("removed"),
    evicted: rest("evicted"),
    uncounted: rest("uncounted"),
    nodeTime: rest("nodeTime"),
    relaunched: rest("relaunched"),
  };
}

/** Undefined where no hold only observed. */
export function sumObserved(holds: readonly ObservedHold[]): ObservedSum | undefined {
  const all = holds.flatMap(({ observed, ...hold }) => (observed ? [{ ...hold, ...observed }] : []));
  if (all.length === 0) return undefined;
  const sum = (of: (hold: (typeof all)[number]) => number) => all.reduce((total, one) => total + of(one), 0);
  return {
    holds: all.length,
    nodes: Math.max(...all.map(({ nodes }) => nodes)),
    lasted: sum(({ startedAt, endedAt }) => endedAt.getTime() - startedAt.getTime()),
    removed: sum(({ removed }) => removed),
    evicted: sum(({ evicted }) => evicted),
    uncounted: sum(({ uncounted }) => uncounted),
    nodeTime: sum(({ nodeTime }) => nodeTime),
    relaunched: sum(({ relaunched }) => relaunched),
  };
}

/** The same in two sentences. */
export function describeObserved(sum: ObservedSum): string {
  const { holds, lasted } = sum;
  const time = holds > 1 ? `${roughly(lasted)} in ${holds} holds` : roughly(lasted);
  return `${describeNodes(sum)} for ${time}; ${describeRemoved(sum)}`;
}

/** Others take the place of those that go, so more may be removed than are there at once. */
export const describeNodes = ({ nodes }: Pick<ObservedSum, "nodes">): string =>
  `would have held ${count(nodes, "node")} at once`;

export function describeRemoved({ removed, evicted, uncounted, nodeTime, relaunched }: Observed): string {
  if (removed === 0) return "Karpenter removed no such node";
  const counted = uncounted === removed ? "" : ` and evicted ${count(evicted, "pod")}`;
  const unknown = uncounted === 0 ? "" : `; the pods of ${uncounted} are unknown`;
  const spared = [
    ...(relaunched > 0 ? [count(relaunched, "launch", "launches")] : []),
    ...(evicted > 0 ? [count(evicted, "eviction")] : []),
  ].join(" and ");
  const gain = spared === "" ? "" : `, and would have spared up to ${spared}`;
  const cost = `A hold would have cost ${nodeHours(nodeTime)} at most${gain}`;
  return `Karpenter removed ${count(removed, "such node")}${counted}${unknown}. ${cost}`;
}

const count = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

const nodeHours = (time: Duration): string => {
  const hours = time / 3_600_000;
  return `${hours.toFixed(hours < 10 ? 2 : 1)} node-hours`;
};
const minute = 60_000;

/** To the minute, from two minutes on. */
const roughly = (time: Duration): string =>
  formatDuration(time < 2 * minute ? Math.round(time / 1_000) * 1_000 : Math.round(time / minute) * minute);
