import { type Duration, minutes, seconds } from "../duration.ts";

/**
 * How long the capacity of one burst was idle before it was needed again. Both bounds are equal when the end was seen;
 * `atMost` is larger when only a later moment is known, and missing when the end was not seen.
 */
export type Gap = Readonly<{ nodes: number; atLeast: Duration; atMost?: Duration }>;

/** What a hold of this length costs in a gap, in milliseconds of one node: idle time, and a relaunch if it is too short. */
export const costOf = (gap: Duration, length: Duration, relaunchCost: Duration): Duration =>
  gap <= length ? gap : length + relaunchCost;

/** What a scope has learned; its size is limited. */
export type Learned = Readonly<{
  /** The gaps after the last bursts, oldest first. */
  gaps: readonly Gap[];
  /** What the learned lengths have recently cost beyond the allowed cost, in relaunches of one node; never below 0. */
  debt: number;
  /** When capacity was last known to be in use, and how long it is held from then on; missing while nothing is observed. */
  idle?: Idle;
}>;

/** `busy`: these nodes were launched and have not been used since, so their burst may still continue. */
export type Idle = Readonly<{ since: Date; nodes: number; length: Duration; busy?: true }>;

/** Capacity was launched for waiting pods, or pods came to or left nodes that are held. */
export type Use = Readonly<{
  at: Date;
  /** The time of the first launch, when several are seen together. */
  from?: Date;
  nodes: number;
  kind: "launch" | "pods";
  /** Whether a hold was on: then only the last of several uses is known. */
  held: boolean;
}>;

export const nothingLearned: Learned = { gaps: [], debt: 0 };

/** The number of bursts that are remembered; older ones would hardly count. */
export const remembered = 48;

/** Uses this close to each other are one burst, because no hold is released sooner. */
export const sameBurst = minutes(1);

/** Learned lengths may cost this many relaunches of the largest burst before they are no longer used. */
export const allowedLoss = 4;

/** In addition, they may cost this share of what the best length costs. */
export const costOfLearning = 0.1;

export const isTrusted = ({ gaps, debt }: Learned): boolean =>
  debt < allowedLoss * Math.max(1, ...gaps.map(({ nodes }) => nodes));

/**
 * Learns from a use that ends a gap, and begins the next one; `terms.length` is how long the capacity is held from then on.
 * Gaps never overlap, so a use that is not later than the last one was counted already.
 */
export function learnFromUse(
  learned: Learned,
  use: Use,
  terms: Terms & Readonly<{ length?: Duration }>,
): Learned {
  const { idle } = learned;
  const { at, from = at, nodes, held, kind } = use;
  const next: Idle = {
    since: at,
    nodes,
    length: terms.length ?? 0,
    ...(kind === "launch" && { busy: true }),
  };
  if (!idle) return { ...learned, idle: next };
  if (at <= idle.since) return learned;
  const gap = wholeSeconds(idle.since, from);
  // The first use after a launch usually ends that burst: until then nothing was idle.
  if ((held && idle.busy) || gap < sameBurst) return { ...learned, idle: next };
  const seen = { nodes: idle.nodes, atLeast: held ? 0 : gap, atMost: gap };
  return { ...remember(learned, seen, idle, terms), idle: next };
}

/** Drops the present gap and learns nothing from it: the scope no longer learns. */
export function forgetIdle({ idle: _, ...rest }: Learned): Learned {
  return rest;
}

/**
 * Ends the present gap early, because what follows does not show when the work would have returned. The gap was at
 * least this long. The debt stays as it is, because the cost of the length is not known.
 */
export function stopWatching(learned: Learned, at: Date, held: boolean): Learned {
  const { idle, ...rest } = learned;
  if (!idle) return learned;
  const gap = wholeSeconds(idle.since, at);
  if ((held && idle.busy) || gap < sameBurst) return rest;
  return addGap(rest, { nodes: idle.nodes, atLeast: gap });
}

/** What costs are computed from. */
export type Terms = Readonly<{ relaunchCost: Duration; cap: Duration }>;

function remember(learned: Learned, gap: Required<Gap>, { length }: Idle, terms: Terms): Learned {
  // Of a gap that is not known exactly, the bound that is worse for the length counts.
  const excess = Math.max(
    ...[gap.atLeast, gap.atMost].map(
      (end) => costOf(end, length, terms.relaunchCost) - allowedCost(end, terms),
    ),
  );
  const debt = Math.max(0, learned.debt + (gap.nodes * excess) / terms.relaunchCost);
  return { ...addGap(learned, gap), debt: Math.ceil(debt * 100) / 100 };
}

const addGap = (learned: Learned, gap: Gap): Learned => ({
  ...learned,
  gaps: [...learned.gaps, gap].slice(-remembered),
});

const wholeSeconds = (from: Date, to: Date): Duration =>
  Math.ceil((to.getTime() - from.getTime()) / seconds(1)) * seconds(1);

/** A little more than twice the least that a constant length costs for this gap. */
const allowedCost = (gap: Duration, { relaunchCost, cap }: Terms): Duration =>
  (2 + costOfLearning) * (gap > cap ? relaunchCost : Math.min(gap, relaunchCost));
