import { after, type Duration, formatDuration, hours, later, minutes } from "./duration.ts";
import { noPauses, type Pauses, pausesAfter, waitsForRelaunch } from "./pauses.ts";
import { type Bound, type Consolidatable, movingOf, type Room, superfluousNodes } from "./room.ts";
import { sparedIn, withPods } from "./spared.ts";
import { sharesWasted } from "./too-large.ts";

/** What the removal of a node is worth, in time of that node. */
export type Prices = Readonly<{ relaunchCost: Duration; evictionCost: Duration }>;

/** What is remembered of a scope's nodes from one look to the next. */
export type Account = Readonly<{
  /** When the nodes were last looked at. */
  at: Date;
  /** How many nodes there were, with those that boot. */
  nodes: number;
  /** How many pods the cluster had, also those of other scopes; missing before the first look. */
  pods?: number;
  /** How many nodes were open and not superfluous; only for figures, and missing before the first look. */
  needed?: number;
  pauses: Pauses;
  /** The time that nodes have wasted because they are larger than their pods need, by name; 0 of others that have their turn. */
  wasted: Readonly<Record<string, Duration>>;
  /** When nodes were let go, by name. */
  letGo: Readonly<Record<string, Date>>;
  /** Until when nodes are left alone that Karpenter did not take, by name. */
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
  /** An estimate: how many pods were on those nodes when they became superfluous, and would have moved. */
  evictionsSpared: number;
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
}>;

/** Karpenter takes a node within this time since it may, or not at all. */
export const takenWithin: Duration = minutes(10);
const aloneFor: Duration = hours(1);
/** A record has room for this many nodes of each kind; no more are let go at a time. */
export const mostNodes = 200;
/** Looks may be late: a node has not wasted time for which nobody knows its load. */
const longestStep: Duration = minutes(6);

export const noAccount = (now: Date): Account => ({
  at: now,
  nodes: 0,
  pauses: noPauses,
  wasted: {},
  letGo: {},
  leftAlone: {},
});

/**
 * Decides which nodes no longer pay. A node goes when it has been superfluous, or has wasted time, for as long as its
 * removal is worth. `waitsForRelaunch` says how much more that costs at most than knowing the future.
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
  const isAlone = (name: string) => ofNode(leftAlone, name) !== undefined;
  const podsOf = Map.groupBy(pods, ({ node }) => node);
  const allSuperfluous = superfluousNodes(nodes, podsOf);
  const superfluous = allSuperfluous.filter(({ name }) => !isAlone(name));
  const { relaunchCost } = prices;
  // A node that was too large was replaced: it is not superfluous now that it is gone.
  const went = Object.keys(account.letGo).filter((name) => ofNode(account.wasted, name) === undefined);
  const taken = went.filter((name) => !present.has(name)).length;
  const launched = Math.max(0, nodes.length - account.nodes + taken);
  const { ended, ...pauses } = pausesAfter(account.pauses, {
    ...{ at: account.at, now, superfluous: superfluous.length, taken, launched, relaunchCost },
  });

  let dueAt = new Date(0);
  const removals = pauses.open.slice(pauses.gone).flatMap(({ since, level }, index) => {
    const room = superfluous[index];
    if (!room) return [];
    const price = priceOf(podsOf.get(room.name), prices, waitsForRelaunch(pauses, level, relaunchCost));
    // The longest pause ends in a removal first.
    dueAt = later(dueAt, after(since, price.worth));
    return { ...room, price, dueAt, was: `superfluous for ${age(since, now)}` };
  });
  const known = new Set(superfluous.map(({ name }) => name));
  const shareWasted = sharesWasted(nodes);
  const others = nodes.filter(
    ({ name, isOpen, stays }) => isOpen && !stays && !known.has(name) && !isAlone(name),
  );
  const step = Math.min(Math.max(0, now.getTime() - account.at.getTime()), longestStep);
  const wasted: Record<string, Duration> = {};
  for (const room of others) {
    const share = shareWasted(room, podsOf.get(room.name) ?? []);
    const isTurn = isItsTurn(room, now) && Object.keys(wasted).length < mostNodes;
    if (share === 0 && !isTurn) continue;
    const time = (ofNode(account.wasted, room.name) ?? 0) + Math.round(share * step);
    wasted[room.name] = time;
    const price = priceOf(podsOf.get(room.name), prices);
    const dueAt = isTurn ? now : after(now, Math.ceil((price.worth - time) / share));
    const was = isTurn ? "held for a day" : `${formatDuration(time)} wasted, because it is too large`;
    removals.push({ ...room, price: isTurn ? { ...price, words: daily } : price, dueAt, was });
  }

  const verdicts: Verdict[] = [];
  const letGo: Record<string, Date> = {};
  let left = mostNodes - removals.filter(({ name }) => ofNode(account.letGo, name)).length;
  for (const { name, price, dueAt, was, consolidatable } of removals) {
    const letGoAt = ofNode(account.letGo, name);
    if (price.fixed) verdicts.push({ name, isLetGo: false, because: `${was}; ${price.fixed}` });
    else if (dueAt > now) verdicts.push({ name, isLetGo: false, dueAt, because: `${was}; ${price.words}` });
    else if (!letGoAt && left-- <= 0) {
      const because = `${was}; ${mostNodes} nodes are let go at a time`;
      verdicts.push({ name, isLetGo: false, dueAt: now, because });
    } else if (letGoAt && isNotTaken(letGoAt, consolidatable, now)) {
      leftAlone[name] = after(now, aloneFor);
      const because = "Karpenter did not take it in ten minutes: it is left alone for an hour";
      verdicts.push({ name, isLetGo: false, because });
    } else {
      letGo[name] = letGoAt ?? now;
      const waits = consolidatable === "not yet" ? "; Karpenter waits for its consolidateAfter" : "";
      verdicts.push({ name, isLetGo: true, because: `${was}; ${price.words}${waits}` });
    }
  }
  const needed = nodes.filter(({ isOpen }) => isOpen).length - allSuperfluous.length;
  const bounded = { wasted: most(wasted), letGo, leftAlone: most(leftAlone) };
  const since: AutoFigures = {
    superfluous: Math.max(0, account.pauses.open.length - account.pauses.gone - went.length) * step,
    letGo: Object.keys(letGo).filter((name) => !ofNode(account.letGo, name)).length,
    ...sparedIn({
      ...{ before: account.pauses, ended, launched },
      ...{ needed, neededBefore: account.needed ?? needed },
    }),
  };
  // The clock of the next function may be behind: nothing counts twice, and nothing less than zero.
  return {
    account: {
      ...{ at: later(account.at, now), nodes: nodes.length, pods: pods.length, needed, ...bounded },
      pauses: withPods(pauses, superfluous, podsOf),
    },
    verdicts,
    since,
  };
}

/** Karpenter has had its time to take a node that was let go; it may not before the node's `consolidateAfter` is over. */
const isNotTaken = (letGoAt: Date, consolidatable: Consolidatable | undefined, now: Date): boolean =>
  consolidatable !== "not yet" && after(later(letGoAt, consolidatable?.since ?? letGoAt), takenWithin) <= now;

/** What the removal of a node with these pods is worth, in words, and why it may not be removed. */
function priceOf(
  pods: readonly Bound[] | undefined,
  { relaunchCost, evictionCost }: Prices,
  isRelaunchPart = true,
) {
  const moving = movingOf(pods);
  const fixed = moving.find((pod) => pod.fixed)?.fixed;
  const worth = (isRelaunchPart ? relaunchCost : 0) + moving.length * evictionCost;
  const relaunch = formatDuration(relaunchCost);
  const parts = [
    ...(isRelaunchPart ? [relaunch] : []),
    ...(moving.length > 0 ? [`${moving.length} ${moving.length === 1 ? "pod" : "pods"}`] : []),
  ];
  const price = `its removal is worth ${formatDuration(worth)}: ${parts.join(" and ")}`;
  const notWaited = `a relaunch is not waited for as long as nodes here are rarely needed again within ${relaunch}`;
  const words = [...(parts.length > 0 ? [price] : []), ...(isRelaunchPart ? [] : [notWaited])].join("; ");
  return { worth, words, ...(fixed && { fixed }) };
}

const daily = "once a day Karpenter may take each node";

/**
 * Once a day Karpenter has its time for each node, because it sees more than the holder: other prices, instance types that
 * are available again, and room where the holder cannot estimate it. The nodes of one launch have their turns at other times.
 */
function isItsTurn({ name, createdAt }: Room, now: Date): boolean {
  const turns = hours(24) / takenWithin;
  const turn = [...name].reduce((sum, letter) => (31 * sum + letter.charCodeAt(0)) % turns, 0);
  const isOld = createdAt !== undefined && after(createdAt, hours(24)) <= now;
  return isOld && Math.floor(now.getTime() / takenWithin) % turns === turn;
}

const age = (since: Date, now: Date): string => formatDuration(Math.max(0, now.getTime() - since.getTime()));

/** What is remembered without a hold: the nodes may change meanwhile, what was learned stays. */
export const withoutNodes = ({ at, pauses }: Account): Account => ({
  ...noAccount(at),
  pauses: { ...noPauses, learned: pauses.learned },
});

/** What is remembered of a node. One may be called constructor, which each object has. */
const ofNode = <T>(map: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(map, name) ? map[name] : undefined;

const onlyWhere = <T>(
  map: Readonly<Record<string, T>>,
  keep: (name: string, value: T) => boolean,
): Record<string, T> => Object.fromEntries(Object.entries(map).filter(([name, value]) => keep(name, value)));

const most = <T>(map: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(map).slice(-mostNodes));
