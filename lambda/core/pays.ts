import { after, type Duration, earlier, formatDuration, hours, minutes } from "./duration.ts";
import { type Bound, type Room, sharesUsed, superfluousNodes } from "./room.ts";

/** What the removal of a node is worth, in time of that node. */
export type Prices = Readonly<{ relaunchCost: Duration; evictionCost: Duration }>;

/** What is remembered of a scope's nodes from one look to the next. */
export type Account = Readonly<{
  /** When the nodes were last looked at. */
  at: Date;
  /** Since when at least one, two, three … nodes are superfluous. Which ones they are is not remembered. */
  superfluousSince: readonly Date[];
  /** The time that nodes have wasted because they are larger than their pods need, by name. */
  wasted: Readonly<Record<string, Duration>>;
  /** When nodes were let go, by name. */
  letGo: Readonly<Record<string, Date>>;
  /** Until when nodes are left alone that nobody took, by name. */
  leftAlone: Readonly<Record<string, Date>>;
}>;

/** What `hold=auto` did; zero with a constant hold. */
export type AutoFigures = Readonly<{
  /** How long nodes were superfluous while they were held, in time of one node. */
  superfluous: Duration;
  /** How many nodes were let go. */
  letGo: number;
  /** How many superfluous nodes were needed again, so that no node had to be launched for their pods. */
  spared: number;
}>;

/** What a look decides of one node. */
export type Verdict = Readonly<{
  name: string;
  isLetGo: boolean;
  /** When it will be let go, if nothing changes. */
  dueAt?: Date;
  because: string;
}>;

export type Look = Readonly<{
  account: Account;
  verdicts: readonly Verdict[];
  /** What happened since the last look. */
  since: AutoFigures;
  /** When the next node is due, or a node that was let go is to be marked again; undefined: nothing can be due. */
  next?: Date;
}>;

/** Karpenter takes a node within this time, or not at all. */
const takenWithin: Duration = minutes(10);
const aloneFor: Duration = hours(1);
/** A record has room for this many nodes of each kind. */
export const mostNodes = 200;
/** Looks may be late: a node has not wasted time for which nobody knows its load. */
const longestStep: Duration = minutes(6);

const noAccount = (now: Date): Account => ({
  at: now,
  superfluousSince: [],
  wasted: {},
  letGo: {},
  leftAlone: {},
});

/**
 * Decides which nodes no longer pay. A node goes when it has been superfluous, or has wasted time, for as long as its
 * removal is worth: who waits that long never pays more than twice what it costs who knows the future.
 */
export function lookAtNodes(
  before: Account | undefined,
  nodes: readonly Room[],
  pods: readonly Bound[],
  prices: Prices,
  now: Date,
): Look {
  const account = before ?? noAccount(now);
  const present = new Set(nodes.map(({ name }) => name));
  const leftAlone = onlyWhere(account.leftAlone, (name, until) => present.has(name) && until > now);
  const isAlone = (name: string) => leftAlone[name] !== undefined;
  const podsOf = Map.groupBy(pods, ({ node }) => node);
  const superfluous = superfluousNodes(nodes, podsOf).filter(({ name }) => !isAlone(name));
  const superfluousSince = superfluous
    .slice(0, mostNodes)
    .map((_, level) => account.superfluousSince[level] ?? now);

  const removals = [
    ...superfluous.map((room, level) => {
      const since = superfluousSince[level] ?? now;
      const price = priceOf(podsOf.get(room.name), prices);
      return { ...room, price, dueAt: after(since, price.worth), was: `superfluous for ${age(since, now)}` };
    }),
  ];
  const known = new Set(superfluous.map(({ name }) => name));
  const sizes = nodes.map(({ allocatable }) => allocatable.cpu ?? 0);
  const isOfOneSize = Math.min(...sizes) > 0.9 * Math.max(...sizes);
  const others = nodes.filter(({ name, isOpen }) => isOpen && !known.has(name) && !isAlone(name));
  const step = Math.min(now.getTime() - account.at.getTime(), longestStep);
  const wasted: Record<string, Duration> = {};
  for (const room of others) {
    const share = isOfOneSize ? 0 : shareWasted(room, podsOf.get(room.name) ?? []);
    if (share === 0) continue;
    const time = (account.wasted[room.name] ?? 0) + Math.round(share * step);
    wasted[room.name] = time;
    const price = priceOf(podsOf.get(room.name), prices);
    const dueAt = after(now, Math.ceil((price.worth - time) / share));
    removals.push({ ...room, price, dueAt, was: `${formatDuration(time)} wasted, because it is too large` });
  }

  const verdicts: Verdict[] = [];
  const letGo: Record<string, Date> = {};
  for (const { name, price, dueAt, was } of removals) {
    const worth = `its removal is worth ${price.words}`;
    if (price.fixed) verdicts.push({ name, isLetGo: false, because: `${was}; ${price.fixed}` });
    else if (dueAt > now) verdicts.push({ name, isLetGo: false, dueAt, because: `${was}; ${worth}` });
    else if (after(account.letGo[name] ?? now, takenWithin) <= now) {
      leftAlone[name] = after(now, aloneFor);
      const because = "nobody took it in ten minutes: it is left alone for an hour";
      verdicts.push({ name, isLetGo: false, because });
    } else {
      letGo[name] = account.letGo[name] ?? now;
      verdicts.push({ name, isLetGo: true, because: `${was}; ${worth}` });
    }
  }
  const dues = [
    ...verdicts.flatMap(({ dueAt }) => dueAt ?? []),
    ...Object.values(letGo).map((at) => after(at, takenWithin)),
  ];
  const next = dues.reduce<Date | undefined>((a, b) => (a ? earlier(a, b) : b), undefined);
  const bounded = { wasted: most(wasted), letGo: most(letGo), leftAlone: most(leftAlone) };
  const gone = Object.keys(account.letGo).filter((name) => !present.has(name)).length;
  const since: AutoFigures = {
    superfluous: account.superfluousSince.length * step,
    letGo: Object.keys(letGo).filter((name) => account.letGo[name] === undefined).length,
    spared: Math.max(0, account.superfluousSince.length - superfluousSince.length - gone),
  };
  return { account: { at: now, superfluousSince, ...bounded }, verdicts, since, ...(next && { next }) };
}

/** What the removal of a node with these pods is worth, in words, and why it may not be removed. */
function priceOf(pods: readonly Bound[] = [], { relaunchCost, evictionCost }: Prices) {
  const moving = pods.filter(({ needsNoPlace }) => !needsNoPlace);
  const fixed = moving.find((pod) => pod.fixed)?.fixed;
  const worth = relaunchCost + moving.length * evictionCost;
  const parts = [
    formatDuration(relaunchCost),
    ...(moving.length > 0 ? [`${moving.length} ${moving.length === 1 ? "pod" : "pods"}`] : []),
  ];
  return { worth, words: `${formatDuration(worth)}: ${parts.join(" and ")}`, ...(fixed && { fixed }) };
}

/** A node's allocatable resources are less than the half of those of a node of twice the size. */
const overhead = 0.93;

/** There is hardly a smaller node than one of two cores. */
const smallestCpu = 2_000;

/** The share of a node's time that is wasted because a node of half its size, or a quarter, would do. */
function shareWasted(room: Room, pods: readonly Bound[]): number {
  if ((room.allocatable.cpu ?? 0) <= smallestCpu) return 0;
  const used = Math.max(...sharesUsed(room, pods)) / overhead;
  if (used <= 0 || used > 0.5) return 0;
  return 1 - 2 ** Math.ceil(Math.log2(used));
}

const age = (since: Date, now: Date): string => formatDuration(now.getTime() - since.getTime());

const onlyWhere = <T>(
  map: Readonly<Record<string, T>>,
  keep: (name: string, value: T) => boolean,
): Record<string, T> => Object.fromEntries(Object.entries(map).filter(([name, value]) => keep(name, value)));

const most = <T>(map: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(map).slice(-mostNodes));
