import { type Duration, later, minutes, seconds } from "../duration.ts";
import {
  type Bucket,
  bucketOf,
  decideStaircase,
  gapEnds,
  type LearnedBuckets,
  lastLevelOf,
  lengthOf,
  levelsIn,
  type Staircase,
  type Terms,
} from "./staircase.ts";

/** Uses this close to each other are one burst, because no hold is released sooner. */
export const sameBurst = minutes(1);

/** Beyond twice the least cost, learned lengths may cost this share of it. */
export const costOfLearning = 0.1;

/** What keeping a node this long costs in a gap, in milliseconds of that node: idle time, and a relaunch if it is too short. */
export const costOf = (gap: Duration, length: Duration, relaunchCost: Duration): Duration =>
  gap <= length ? gap : length + relaunchCost;

/** Levels that were last needed at the same time: those up to `nodes`, above those of the entry before. */
export type IdleLevels = Readonly<{
  nodes: number;
  since: Date;
  /** How long the staircase kept them from then on; missing while it still does. */
  kept?: Duration;
  /** They were launched and have not been used since, so their burst may still continue. */
  busy?: true;
}>;

/** What a scope has learned of its bursts; its size is limited. */
export type Bursts = LearnedBuckets &
  Readonly<{
    /** From level 1 upwards, so the first entry is the latest. */
    idle: readonly IdleLevels[];
  }>;

export type Burst = Readonly<{
  /** The nodes it needs: the launched and the kept ones, or, without a launch, those that it uses. */
  nodes: number;
  /** When it began, at the latest. */
  from: Date;
  /** Where its beginning was not seen: when it had not begun yet. */
  notBefore?: Date;
  /** When its nodes were last used. */
  at: Date;
  kind: "launch" | "pods";
}>;

export const noBursts: Bursts = { largest: 0, buckets: [], idle: [] };

/** A larger burst counts as this large. */
export const mostNodes = 8_192;
/** Of more entries of idle levels, two that are close in time become one. */
export const idleRemembered = 32;
/** The number of later gaps after which a gap counts half as much. */
const halfLife = 16;

/** The same levels, in parts that lie in one bucket each. */
type Part = IdleLevels & Readonly<{ above: number }>;

/**
 * Learns from a burst: it ends the gaps of the levels that it needs. A level that was already needed later learns nothing,
 * so a duplicate event changes nothing, and a late one only levels that have not been needed since.
 */
export function learnFromBurst(bursts: Bursts, burst: Burst, terms: Terms): Bursts {
  const { from, at, kind } = burst;
  const nodes = Math.min(burst.nodes, mostNodes);
  const largest = Math.max(bursts.largest, nodes);
  const staircase = decideStaircase(bursts, terms);
  const decidedAt = bursts.idle[0]?.since ?? from;
  const needed = { since: at, ...(kind === "launch" && { busy: true as const }) };

  const buckets = Array.from(
    { length: bucketOf(largest) + 1 },
    (_, n) => bursts.buckets[n] ?? { gaps: [], debt: 0 },
  );
  const idle = partsOf(bursts.idle, nodes).map((part): Part => {
    const isNeeded = part.above < nodes;
    if (isNeeded && part.since >= at) return part;
    const known = withKept(part, { staircase, decidedAt, until: isNeeded ? from : at });
    if (!isNeeded) return known;
    const bucket = bucketOf(part.nodes);
    buckets[bucket] = endGap(buckets[bucket] as Bucket, known, { burst, terms, largest });
    return { above: part.above, nodes: part.nodes, ...needed };
  });
  const above = bursts.idle.at(-1)?.nodes ?? 0;
  return { largest, buckets, idle: joined(nodes > above ? [...idle, { above, nodes, ...needed }] : idle) };
}

/**
 * Ends all gaps early, because what follows does not show when the work would have returned. They were at least this long.
 * Debts stay as they are, because the cost of the lengths is not known.
 */
export function stopWatchingBursts({ largest, buckets, idle }: Bursts, now: Date): Bursts {
  const next = [...buckets];
  for (const part of partsOf(idle, 0)) {
    const gap = wholeSeconds(part.since, now);
    const bucket = bucketOf(part.nodes);
    const before = next[bucket];
    if (before && !part.busy && gap >= sameBurst)
      next[bucket] = {
        ...before,
        gaps: counted(before.gaps, unended(before.gaps, gap), shareOf(part, largest)),
      };
  }
  return { largest, buckets: next, idle: [] };
}

type Levels = Readonly<{ upTo: number; from: Date; until: Date; needed?: Date }>;

/**
 * How long these levels were idle between two times, in milliseconds of one node; and, where they are needed again now, how
 * many of them would have been launched again if nobody had kept them.
 */
export function idleTime(
  { idle }: Bursts,
  { upTo, from, until, needed }: Levels,
): Readonly<{ time: Duration; returned: number }> {
  let [time, returned] = [0, 0];
  for (const { above, nodes, since, busy } of partsOf(idle, upTo)) {
    const isKnown = needed !== undefined && since >= needed;
    const gap = until.getTime() - later(since, from).getTime();
    if (above >= upTo || isKnown || gap <= 0) continue;
    // The first use after a launch, and uses within a minute, are of the same burst.
    if (needed && (busy || gap < sameBurst)) continue;
    time += (nodes - above) * gap;
    if (needed) returned += nodes - above;
  }
  return { time, returned };
}

/** Splits idle levels at the ends of buckets, and above `nodes`. */
function partsOf(idle: readonly IdleLevels[], nodes: number): readonly Part[] {
  const parts: Part[] = [];
  let above = 0;
  for (const levels of idle) {
    while (above < levels.nodes) {
      const ends = [levels.nodes, lastLevelOf(bucketOf(above + 1)), nodes];
      const end = Math.min(...ends.filter((level) => level > above));
      parts.push({ ...levels, above, nodes: end });
      above = end;
    }
  }
  return parts;
}

/** Joins equal entries; and of too many, those two of one bucket that are closest in time. */
function joined(parts: readonly Part[]): readonly IdleLevels[] {
  const idle: IdleLevels[] = [];
  for (const { above: _, ...levels } of parts) {
    const before = idle.at(-1);
    if (before && isSame(before, levels)) idle.pop();
    idle.push(levels);
  }
  while (idle.length > idleRemembered) {
    const distances = idle.map(({ nodes, since }, at) => {
      const before = idle[at - 1];
      if (!before || bucketOf(before.nodes) !== bucketOf(nodes)) return Number.POSITIVE_INFINITY;
      return before.since.getTime() - since.getTime();
    });
    // The smaller levels, which were needed later, count for both.
    const at = distances.indexOf(Math.min(...distances));
    const { nodes } = idle[at] as IdleLevels;
    idle.splice(at - 1, 2, { ...(idle[at - 1] as IdleLevels), nodes });
  }
  return idle;
}

const isSame = (a: IdleLevels, b: IdleLevels): boolean =>
  a.since.getTime() === b.since.getTime() && a.kept === b.kept && a.busy === b.busy;

type InForce = Readonly<{ staircase: Staircase; decidedAt: Date; until: Date }>;

/** Notes how long levels were kept, once the staircase no longer keeps them. What it lets go is not taken back. */
function withKept(part: Part, { staircase, decidedAt, until }: InForce): Part {
  if (part.kept !== undefined) return part;
  const kept = Math.max(lengthOf(staircase, part.nodes), wholeSeconds(part.since, decidedAt));
  return kept < wholeSeconds(part.since, until) ? { ...part, kept } : part;
}

type Ended = Readonly<{ burst: Burst; terms: Terms; largest: number }>;

function endGap(bucket: Bucket, part: Part, { burst, terms, largest }: Ended): Bucket {
  const { from, notBefore = from } = burst;
  const gap = wholeSeconds(part.since, from);
  if (part.busy || gap < sameBurst) return bucket;
  const atLeast = Math.max(0, wholeSeconds(part.since, notBefore));
  // Of a gap that is not known exactly, the bound that is worse for the length counts.
  const excess = Math.max(
    ...[atLeast, gap].map(
      (end) => costOf(end, part.kept ?? end, terms.relaunchCost) - allowedCost(end, terms),
    ),
  );
  const debt = Math.max(0, bucket.debt + ((part.nodes - part.above) * excess) / terms.relaunchCost);
  // It is counted with even spread over the time in which it may have ended.
  const ends = [1, 2, 3].map((third) => atLeast + ((gap - atLeast) * third) / 3);
  const weights = gapEnds.map((_, at) => ends.filter((end) => countedAt(end) === at).length / 3);
  return {
    gaps: counted(bucket.gaps, weights, shareOf(part, largest)),
    debt: Math.ceil(debt * 100) / 100,
  };
}

const countedAt = (gap: Duration): number => gapEnds.findIndex((end) => gap <= end);

/** Where a gap whose end was not seen may have ended: like the longer ones, or, if there are none, never. */
function unended(gaps: readonly number[], atLeast: Duration): readonly number[] {
  const longer = gapEnds.map((end, at) => (end > atLeast ? (gaps[at] ?? 0) : 0));
  const sum = longer.reduce((a, b) => a + b, 0);
  return sum > 0
    ? longer.map((weight) => weight / sum)
    : gapEnds.map((_, at) => (at === gapEnds.length - 1 ? 1 : 0));
}

/** The share of a bucket's levels that a gap is of. */
const shareOf = ({ above, nodes }: Part, largest: number): number =>
  (nodes - above) / levelsIn(bucketOf(nodes), largest);

/** Adds one gap of a share of the levels; earlier ones fade. */
function counted(gaps: readonly number[], weights: readonly number[], share: number): readonly number[] {
  const next = weights.map(
    (weight, at) =>
      Math.round(((gaps[at] ?? 0) * 0.5 ** (share / halfLife) + weight * share) * 100_000) / 100_000,
  );
  return next.slice(0, next.findLastIndex((weight) => weight > 0) + 1);
}

/** A little more than twice the least that lengths up to the cap can cost in this gap. */
const allowedCost = (gap: Duration, { relaunchCost, cap }: Terms): Duration =>
  (2 + costOfLearning) * (gap > cap ? relaunchCost : Math.min(gap, relaunchCost));

const wholeSeconds = (from: Date, to: Date): Duration =>
  Math.ceil((to.getTime() - from.getTime()) / seconds(1)) * seconds(1);
