import type { Duration } from "../duration.ts";

/**
 * How long the capacity of one burst was idle before it was needed again. Both bounds are the same when that was seen;
 * `atMost` is larger when only a later moment is known, and missing when the end was never seen.
 */
export type Gap = Readonly<{ nodes: number; atLeast: Duration; atMost?: Duration }>;

/** What waiting `length` costs for a gap, in milliseconds of one node: idle time, and a relaunch if it was too short. */
export const costOf = (gap: Duration, length: Duration, relaunchCost: Duration): Duration =>
  gap <= length ? gap : length + relaunchCost;

/** Where a gap may have ended, and how much each of these possibilities counts. Infinity: it did not end. */
export type Ending = Readonly<{ at: Duration; weight: number }>;

/** The next gap of the same kind may be somewhat longer than the one seen. */
export const margin = 1.25;

/** The weight of a burst halves with every so many bursts that came after it. */
const halfLife = 16;

/** The endings of all gaps, oldest first as they are kept, weighted by nodes and by how recent they are. */
export function endingsOf(gaps: readonly Gap[]): readonly Ending[] {
  const seen: Ending[] = [];
  const unseen: Ending[] = [];
  gaps.forEach((gap, index) => {
    const weight = gap.nodes * 0.5 ** ((gaps.length - 1 - index) / halfLife);
    if (gap.atMost === undefined) unseen.push({ at: gap.atLeast, weight });
    else seen.push(...possibleEndings(gap.atLeast, gap.atMost, weight));
  });
  return unseen.toSorted((a, b) => a.at - b.at).reduce(shareAmongLonger, seen);
}

function possibleEndings(atLeast: Duration, atMost: Duration, weight: number): readonly Ending[] {
  if (atLeast === atMost) return [{ at: atMost * margin, weight }];
  // Spread evenly, and nothing beyond the bound: else a length would confirm and stretch itself.
  return [1, 2, 3].map((part) => ({ at: atLeast + ((atMost - atLeast) * part) / 3, weight: weight / 3 }));
}

/** A gap never seen to end is taken to end like those that were longer; if none was, it did not end. */
function shareAmongLonger(endings: readonly Ending[], { at, weight }: Ending): readonly Ending[] {
  const total = endings.reduce((sum, ending) => sum + (ending.at > at ? ending.weight : 0), 0);
  if (total === 0) return [...endings, { at: Number.POSITIVE_INFINITY, weight }];
  const factor = 1 + weight / total;
  return endings.map((ending) =>
    ending.at > at ? { at: ending.at, weight: ending.weight * factor } : ending,
  );
}
