import { type Duration, formatDuration, minutes, seconds } from "../duration.ts";

/*
 * The k-th node of the capacity that bursts need is level k: a burst of n nodes needs levels 1 to n. So each level is idle
 * for a time of its own, its gap: until the next burst that needs it. Levels are learned in buckets: 1, 2, 3-4, 5-8, 9-16, ...
 */

/** What the levels of one bucket have taught. */
export type Bucket = Readonly<{
  /** How many gaps ended within each of `gapEnds`. One gap of all levels is 1; older ones count less. */
  gaps: readonly number[];
  /** What the learned lengths have cost beyond the allowed cost, in relaunches of one node; never below 0. */
  debt: number;
}>;

/** What the lengths are chosen from. */
export type LearnedBuckets = Readonly<{
  /** The most nodes that a burst needed. */
  largest: number;
  /** The first bucket is level 1. */
  buckets: readonly Bucket[];
}>;

/** What a relaunch of one node is worth, in time of that node; and how long a hold may last. */
export type Terms = Readonly<{ relaunchCost: Duration; cap: Duration }>;

/** Learned lengths may cost this many relaunches of each node before they are no longer used. */
export const allowedLoss = 4;

const longest = Number.POSITIVE_INFINITY;

/** Gaps are counted by length: each end is a quarter longer than the one before. The last counts all longer ones. */
export const gapEnds: readonly Duration[] = Array.from({ length: 36 }, (_, n) =>
  n === 35 ? longest : Math.ceil((minutes(1) * 1.25 ** n) / seconds(1)) * seconds(1),
);

export const bucketOf = (level: number): number => 32 - Math.clz32(level - 1);
export const lastLevelOf = (bucket: number): number => 2 ** bucket;

/** How many levels of a bucket have ever been needed. */
export const levelsIn = (bucket: number, largest: number): number =>
  Math.min(largest, lastLevelOf(bucket)) - (bucket === 0 ? 0 : lastLevelOf(bucket - 1));

/** How long some levels are kept after they were last needed, and why. */
export type Step = Readonly<{
  /** The largest of these levels; the smallest follows the step before. */
  upTo: number;
  length: Duration;
  /** `default`: nothing is learned yet; `cautious`: what was learned has cost too much and is not used for now. */
  action: "default" | "learned" | "cautious";
  because: string;
}>;

/** One step at least, from level 1 upwards; none is longer than the one before. Levels above the last step are kept as long as it. */
export type Staircase = readonly [Step, ...Step[]];

/** A bucket's length, and the gaps that it was chosen by: its own, perhaps with those of its neighbours. */
type Choice = Pick<Step, "length" | "action"> & Readonly<{ gaps: readonly number[] }>;

/**
 * For each level the length that would have cost least over its gaps. Where a larger level would be kept for longer than a
 * smaller one, both choose together. While nothing is learned, or while the learned lengths have cost too much, the length
 * is `relaunchCost`: for any gaps, that costs at most twice as much as to know them.
 */
export function decideStaircase(
  { largest, buckets }: LearnedBuckets,
  { relaunchCost, cap }: Terms,
): Staircase {
  const fallback = Math.min(relaunchCost, cap);
  const isCautious = ({ debt }: Bucket, at: number) => debt >= allowedLoss * levelsIn(at, largest);
  const [lowest, highest] = [buckets.findIndex(isCautious), buckets.findLastIndex(isCautious)];
  const choices = chooseLengths(buckets, relaunchCost, cap).map((choice, at): Choice => {
    // A level that is kept for `relaunchCost` needs the smaller ones for as long, and the larger ones for no longer.
    const least = at <= highest ? fallback : 0;
    const most = lowest >= 0 && at >= lowest ? fallback : cap;
    const length = Math.min(most, Math.max(least, choice.length));
    const isChanged = length !== choice.length || least === most;
    return isChanged ? { ...choice, length, action: "cautious" } : choice;
  });
  const [first = { length: fallback, action: "default", gaps: [] }, ...rest] = choices;
  const steps: [Step, ...Step[]] = [stepOf(first, 0, relaunchCost)];
  rest.forEach((choice, index) => {
    const step = stepOf(choice, index + 1, relaunchCost);
    const { length, because } = steps.at(-1) as Step;
    if (step.length === length && step.because === because) steps.pop();
    steps.push(step);
  });
  return steps;
}

/** How long a level is kept, and why. */
export const stepAt = (staircase: Staircase, level: number): Step =>
  staircase.find(({ upTo }) => upTo >= level) ?? (staircase.at(-1) as Step);
export const lengthOf = (staircase: Staircase, level: number): Duration => stepAt(staircase, level).length;

/** The lengths by bucket, none longer than the one before. */
function chooseLengths(buckets: readonly Bucket[], relaunchCost: Duration, cap: Duration): readonly Choice[] {
  const pools: (Choice & { count: number })[] = [];
  for (const { gaps } of buckets) {
    let pool = { ...chooseLength(gaps, relaunchCost, cap), count: 1 };
    for (let below = pools.at(-1); below && mustPool(below, pool); below = pools.at(-1)) {
      pools.pop();
      pool = {
        ...chooseLength(addUp(below.gaps, pool.gaps), relaunchCost, cap),
        count: below.count + pool.count,
      };
    }
    pools.push(pool);
  }
  return pools.flatMap(({ count, ...choice }) => Array.from({ length: count }, () => choice));
}

/** What has learned nothing yet goes along with its neighbour. */
const mustPool = (below: Choice, above: Choice): boolean =>
  below.action === "default" || above.action === "default" || above.length > below.length;

const addUp = (a: readonly number[], b: readonly number[]): readonly number[] =>
  gapEnds.map((_, at) => (a[at] ?? 0) + (b[at] ?? 0));

/** Costs this close to each other count as equal. */
const tolerance = 0.001;

/** The cheapest length for these gaps; of equally cheap ones the one closest to `relaunchCost`. */
function chooseLength(gaps: readonly number[], relaunchCost: Duration, cap: Duration): Choice {
  const fallback = Math.min(relaunchCost, cap);
  const all = total(gaps);
  if (all === 0) return { length: fallback, action: "default", gaps };
  let [idle, later, next] = [0, all, 0];
  const lengths = [0, fallback, ...gapEnds].filter((length) => length <= cap && length < longest);
  const costs = lengths
    .toSorted((a, b) => a - b)
    .map((length) => {
      for (; (gapEnds[next] ?? longest) <= length; next++) {
        idle += (gaps[next] ?? 0) * (gapEnds[next] ?? 0);
        later -= gaps[next] ?? 0;
      }
      return { length, cost: idle + Math.max(0, later) * (length + relaunchCost) };
    });
  const enough = Math.min(...costs.map(({ cost }) => cost)) * (1 + tolerance);
  const [best = fallback] = costs
    .filter(({ cost }) => cost <= enough)
    .map(({ length }) => length)
    .toSorted((a, b) => Math.abs(a - fallback) - Math.abs(b - fallback));
  return { length: best, action: "learned", gaps };
}

const total = (weights: readonly number[]): number => weights.reduce((sum, weight) => sum + weight, 0);

function stepOf({ length, action, gaps }: Choice, bucket: number, relaunchCost: Duration): Step {
  return {
    upTo: lastLevelOf(bucket),
    length,
    action,
    because: reasonFor({ length, action, gaps }, relaunchCost),
  };
}

function reasonFor({ length, action, gaps }: Choice, relaunchCost: Duration): string {
  if (action === "default") return "nothing is learned yet, so for as long as one relaunch is worth";
  if (action === "cautious")
    return "what was learned has recently cost too much, so for as long as one relaunch is worth";
  const within = (end: Duration) =>
    Math.round((100 * total(gaps.filter((_, at) => (gapEnds[at] ?? 0) <= end))) / total(gaps));
  if (length > 0) return `${within(length)} % of the pauses were shorter`;
  const late = 100 - within(relaunchCost);
  return `${late} % of the pauses were longer than ${formatDuration(relaunchCost)}, so waiting costs more than it saves`;
}

/** How long a hold lasts after the last launch or large use, and why. */
export type HoldLength = Pick<Step, "length" | "action" | "because">;

export const describeLength = ({ length, because }: HoldLength): string =>
  `${formatDuration(length)}: ${because}`;

/** So many nodes are half of a burst: a hold lasts as long as it pays to keep them. */
export const halfOf = (nodes: number): number => Math.max(1, Math.ceil(nodes / 2));

/** How long holds last after bursts of these sizes, in words and as a figure. */
export type SizedLength = HoldLength & Readonly<{ sizes: string; lasts: string }>;

/** How long holds last after bursts of each size, from small to large. */
export const lengthsBySize = (staircase: Staircase): readonly SizedLength[] =>
  staircase.map(({ upTo, ...step }, at) => {
    const from = 2 * (staircase[at - 1]?.upTo ?? 0) + 1;
    const isLast = at === staircase.length - 1;
    const sizes = isLast ? `${from} or more nodes` : `${from} to ${2 * upTo} nodes`;
    return {
      ...step,
      sizes: staircase.length === 1 ? "any size" : sizes,
      lasts: formatDuration(step.length),
    };
  });

/** The same as logs and commands show it. */
export const describeStaircase = (staircase: Staircase): readonly string[] =>
  lengthsBySize(staircase).map(({ sizes, ...step }) => `after a burst of ${sizes} ${describeLength(step)}`);
