import { type Duration, formatDuration, seconds } from "../duration.ts";
import { type Gap, isTrusted, type Learned } from "./learned.ts";

/** A length that a gap may have had, with its weight. Infinity: the gap did not end. */
export type GapEnd = Readonly<{ at: Duration; weight: number }>;

/** The next gap may be somewhat longer than the one that was seen. */
export const margin = 1.25;

/** The number of later bursts after which a burst counts half as much. */
const halfLife = 16;

/** The possible endings of all gaps (oldest first), weighted by their nodes and their age. */
export function endingsOf(gaps: readonly Gap[]): readonly GapEnd[] {
  const seen: GapEnd[] = [];
  const unseen: GapEnd[] = [];
  gaps.forEach((gap, index) => {
    const weight = gap.nodes * 0.5 ** ((gaps.length - 1 - index) / halfLife);
    if (gap.atMost === undefined) unseen.push({ at: gap.atLeast, weight });
    else seen.push(...possibleEndings(gap.atLeast, gap.atMost, weight));
  });
  return unseen.toSorted((a, b) => a.at - b.at).reduce(shareAmongLonger, seen);
}

function possibleEndings(atLeast: Duration, atMost: Duration, weight: number): readonly GapEnd[] {
  if (atLeast === atMost) return [{ at: atMost * margin, weight }];
  // Spread evenly, but not beyond the bound: otherwise each hold would make the next one longer.
  return [1, 2, 3].map((part) => ({ at: atLeast + ((atMost - atLeast) * part) / 3, weight: weight / 3 }));
}

/** A gap whose end was not seen counts as if it had ended like the longer gaps. Without longer gaps it did not end. */
function shareAmongLonger(endings: readonly GapEnd[], { at, weight }: GapEnd): readonly GapEnd[] {
  const total = endings.reduce((sum, ending) => sum + (ending.at > at ? ending.weight : 0), 0);
  if (total === 0) return [...endings, { at: Number.POSITIVE_INFINITY, weight }];
  const factor = 1 + weight / total;
  return endings.map((ending) =>
    ending.at > at ? { at: ending.at, weight: ending.weight * factor } : ending,
  );
}

/** How long a hold lasts after the last use, and why. */
export type HoldLength = Readonly<{
  length: Duration;
  /** `default`: nothing is learned yet; `cautious`: the learned lengths have cost too much and are not used for now. */
  action: "default" | "learned" | "cautious";
  because: string;
  /** The length with half and with twice the `relaunchCost`. */
  atHalfCost: Duration;
  atDoubleCost: Duration;
}>;

export type LengthLimits = Readonly<{ cap: Duration }>;

/**
 * The length that would have cost least over the recent bursts. While nothing is learned, or while the learned lengths
 * have cost too much, it is `relaunchCost`: for any gaps, that costs at most twice as much as the best length.
 */
export function decideHoldLength(learned: Learned, relaunchCost: Duration, limits: LengthLimits): HoldLength {
  const { gaps } = learned;
  const whatIf = {
    atHalfCost: cheapestLength(gaps, relaunchCost / 2, limits),
    atDoubleCost: cheapestLength(gaps, relaunchCost * 2, limits),
  };
  const fallback = Math.min(relaunchCost, limits.cap);
  if (gaps.length === 0) {
    const because = "nothing is learned yet, so a hold lasts as long as one relaunch is worth";
    return { length: fallback, action: "default", because, ...whatIf };
  }
  if (!isTrusted(learned)) {
    const because =
      "the learned lengths have recently cost too much, so a hold lasts as long as one relaunch is worth";
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
function costsOf(endings: readonly GapEnd[], lengths: readonly Duration[], relaunchCost: Duration) {
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
  // With the margin, waiting for these bursts would have cost as much as a relaunch.
  const tooLong = relaunchCost / margin;
  const away = gaps.filter(({ atLeast }) => atLeast >= tooLong).length;
  return `${away} ${of} stayed away for ${formatDuration(tooLong)} or longer, so waiting costs more than it saves`;
}

/** A learned length with its reason, as logs and commands show it. */
export function describeLength({ length, because, atHalfCost, atDoubleCost }: HoldLength): string {
  const whatIf = `${formatDuration(atHalfCost)} at half, ${formatDuration(atDoubleCost)} at double relaunchCost`;
  return `${formatDuration(length)}: ${because} (${whatIf})`;
}
