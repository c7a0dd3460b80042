import { type Duration, formatDuration, seconds } from "../duration.ts";
import { type Gap, isTrusted, type Learned } from "./learned.ts";

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

/** How long a hold waits after the last use, and why. */
export type HoldLength = Readonly<{
  length: Duration;
  /** `default`: nothing is known yet; `cautious`: what was learned has cost too much, so it is not used for now. */
  action: "default" | "learned" | "cautious";
  because: string;
  /** What the length would be if relaunches were worth half and twice as much to the user. */
  atHalfCost: Duration;
  atDoubleCost: Duration;
}>;

export type LengthLimits = Readonly<{ cap: Duration }>;

/**
 * The length that would have cost least over the recent bursts. Without knowledge, and while the learned lengths have
 * cost too much, it is `relaunchCost`: whatever the gaps are, that costs at most twice the best length.
 */
export function decideHoldLength(learned: Learned, relaunchCost: Duration, limits: LengthLimits): HoldLength {
  const { gaps } = learned;
  const whatIf = {
    atHalfCost: cheapestLength(gaps, relaunchCost / 2, limits),
    atDoubleCost: cheapestLength(gaps, relaunchCost * 2, limits),
  };
  const fallback = Math.min(relaunchCost, limits.cap);
  if (gaps.length === 0) {
    const because = "no burst was seen to end yet, so it waits as long as one relaunch is worth";
    return { length: fallback, action: "default", because, ...whatIf };
  }
  if (!isTrusted(learned)) {
    const because =
      "the learned lengths have cost too much of late, so it waits as long as one relaunch is worth";
    return { length: fallback, action: "cautious", because, ...whatIf };
  }
  const length = cheapestLength(gaps, relaunchCost, limits);
  return { length, action: "learned", because: reasonFor(length, gaps, relaunchCost), ...whatIf };
}

/** Costs this close to each other count as equal. */
const tolerance = 0.001;

function cheapestLength(gaps: readonly Gap[], relaunchCost: Duration, { cap }: LengthLimits): Duration {
  const endings = endingsOf(gaps);
  const fallback = Math.min(relaunchCost, cap);
  // The cost falls only where a gap ends, so no other length can be the cheapest.
  const lengths = [fallback, 0, ...endings.map(({ at }) => at)].filter((length) => length <= cap);
  const costs = costsOf(endings, lengths, relaunchCost);
  const enough = Math.min(...costs.map(({ cost }) => cost)) * (1 + tolerance);
  const [best = fallback] = costs
    .filter(({ cost }) => cost <= enough)
    .map(({ length }) => length)
    .toSorted((a, b) => Math.abs(a - fallback) - Math.abs(b - fallback));
  return Math.ceil(best / seconds(1)) * seconds(1);
}

/** What each length would have cost, shortest first. */
function costsOf(endings: readonly Ending[], lengths: readonly Duration[], relaunchCost: Duration) {
  const sorted = endings.toSorted((a, b) => a.at - b.at);
  let later = sorted.reduce((sum, { weight }) => sum + weight, 0);
  let idle = 0;
  let next = 0;
  return lengths
    .toSorted((a, b) => a - b)
    .map((length) => {
      for (let ending = sorted[next]; ending && ending.at <= length; ending = sorted[++next]) {
        idle += ending.weight * ending.at;
        later -= ending.weight;
      }
      return { length, cost: idle + Math.max(0, later) * (length + relaunchCost) };
    });
}

function reasonFor(length: Duration, gaps: readonly Gap[], relaunchCost: Duration): string {
  const of = gaps.length === 1 ? "of 1 burst" : `of the last ${gaps.length} bursts`;
  if (length > 0) {
    const returned = gaps.filter(({ atMost = Number.POSITIVE_INFINITY }) => atMost <= length).length;
    return `${returned} ${of} returned within ${formatDuration(length)}`;
  }
  // With the margin, waiting for these would have cost as much as a relaunch.
  const tooLong = relaunchCost / margin;
  const away = gaps.filter(({ atLeast }) => atLeast >= tooLong).length;
  return `${away} ${of} stayed away for ${formatDuration(tooLong)} or longer, so waiting costs more than it saves`;
}

/** A learned length with its reason, as logs and commands show it. */
export function describeLength({ length, because, atHalfCost, atDoubleCost }: HoldLength): string {
  const whatIf = `${formatDuration(atHalfCost)} at half, ${formatDuration(atDoubleCost)} at double relaunchCost`;
  return `${formatDuration(length)}: ${because} (${whatIf})`;
}
