import type { Duration } from "./duration.ts";

/**
 * The time in which a node is superfluous, or was let go and is gone: until it is needed again. At least so many nodes are
 * superfluous as there are pauses; which ones they are is not remembered. A new pause has the lowest level that is free.
 */
export type Pause = Readonly<{
  since: Date;
  level: number;
  /** How many pods Karpenter would have evicted when it began; only for figures. */
  pods?: number;
}>;

export type Pauses = Readonly<{
  /** Those that go on, the oldest first. */
  open: readonly Pause[];
  /** How many of them, the first ones, are of nodes that were let go and are gone. */
  gone: number;
  /** By level, what waiting for a relaunch has cost in past pauses; below zero: what it has saved. */
  learned: readonly Duration[];
}>;

export const noPauses: Pauses = { open: [], gone: 0, learned: [] };

/** So many levels learn; a deeper one always waits. */
export const levels = 8;
/** Each pause takes this share of what was learned before, so that the last eight of a level count most. */
const forgotten = 1 / 8;
/** How many relaunches waiting must have cost before it ends. Not less than one, or the bound below is lost. */
const margin = 2;
/** A record has room for this many pauses, which began at so many times. Of more nodes the others begin later. */
export const mostPauses = 2_000;
export const mostTimes = 200;

type News = Readonly<{
  /** When the pauses were looked at before. */
  at: Date;
  now: Date;
  /** How many nodes are superfluous. */
  superfluous: number;
  /** How many nodes that were let go are gone, and how many were launched since. */
  taken: number;
  launched: number;
  relaunchCost: Duration;
}>;

/** The pauses by now, and how many have ended since. */
export function pausesAfter(before: Pauses, news: News): Pauses & Readonly<{ ended: number }> {
  const { at, now, superfluous, taken, launched, relaunchCost } = news;
  const ageAt = ({ since }: Pause, time: Date) => Math.max(0, time.getTime() - since.getTime());
  const wasCounted = (pause: Pause) => ageAt(pause, at) >= relaunchCost;
  let gone = Math.min(Math.max(0, before.gone + taken - launched), before.open.length);
  const lasting = before.open.slice(0, superfluous + gone);
  const ended = new Set(before.open.slice(lasting.length));

  const learned = Array.from({ length: levels }, (_, level) => learnedAt(before, level, relaunchCost));
  for (const pause of before.open) {
    const age = ageAt(pause, now);
    const isOver = ended.has(pause);
    if (pause.level >= levels || wasCounted(pause) || (age < relaunchCost && !isOver)) continue;
    // Waiting saved the relaunch for what was left of its price, or cost as much as it.
    const cost = age < relaunchCost ? age - relaunchCost : relaunchCost;
    learned[pause.level] = Math.round((learned[pause.level] ?? 0) * (1 - forgotten)) + cost;
  }

  // A pause of a node that is gone is over when it has been counted.
  const open = lasting.filter((pause, index) => index >= gone || ageAt(pause, now) < relaunchCost);
  gone -= lasting.length - open.length;
  const used = new Set(open.map(({ level }) => level));
  const times = new Set(open.map(({ since }) => since.getTime()));
  const most = times.size < mostTimes ? Math.min(superfluous + gone, mostPauses) : 0;
  for (let level = 0; open.length < most; level++) if (!used.has(level)) open.push({ since: now, level });
  return { open, gone, learned, ended: ended.size };
}

/**
 * Whether a superfluous node waits for what its relaunch is worth. The least that a pause costs is its length or the
 * node's price, whichever is less. Who waits for the price pays at most twice that. Who does not wait for the relaunch pays
 * for it in vain in short pauses: each of them takes from what was learned what it costs, each long one gives a relaunch,
 * which it costs everybody, and nobody begins with more than one above the margin. So all pauses of a level together cost
 * at most four times the least and three relaunches, and up to the time between two looks for each pause.
 */
export const waitsForRelaunch = (pauses: Pauses, level: number, relaunchCost: Duration): boolean =>
  level >= levels || learnedAt(pauses, level, relaunchCost) <= margin * relaunchCost;

/** Before anything is known a relaunch is not waited for, because most pauses are long; one short pause changes that. */
const learnedAt = ({ learned }: Pauses, level: number, relaunchCost: Duration): Duration =>
  learned[level] ?? margin * relaunchCost + 1;
