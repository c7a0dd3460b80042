import { costOf, type Weights } from "../cost.ts";
import { type ArmRuns, type Group, isHolder, meanOf, spreadOf } from "./groups.ts";

/** What one arm cost against another on the same seeds, as a ratio. */
export type Ratio = Readonly<{
  ratio: number;
  /** How far the ratio of single seeds is from the middle; with one seed what chance does, which is assumed. */
  spread: number;
  seeds: number;
  /** A difference that is smaller than the spread, or than what chance does, is none. */
  verdict: "less" | "more" | "no difference";
}>;

/**
 * How far chance alone moves the ratio of so many seeds. Single seeds are 2.2 % from the mean of their comparison (standard
 * deviation). The spread of few seeds is often small by chance: by that alone, two equal settings would differ in a quarter
 * of the comparisons of three seeds; with this limit, in a fiftieth.
 */
const chance = (seeds: number): number => 0.05 / Math.sqrt(seeds);

/** undefined where no seed was run by both. */
export function compare(ours: ArmRuns, theirs: ArmRuns, weights: Weights): Ratio | undefined {
  const pairs = ours.runs.flatMap((run) => {
    const other = theirs.runs.find(({ seed }) => seed === run.seed);
    return other ? [[costOf(run, weights), costOf(other, weights)] as const] : [];
  });
  if (pairs.length === 0) return undefined;
  const sum = (at: 0 | 1) => pairs.reduce((total, pair) => total + pair[at], 0);
  const ratio = times(sum(0), sum(1));
  const spread = pairs.length > 1 ? spreadOf(pairs.map(([a, b]) => times(a, b))) : chance(1);
  const isDifferent = Math.abs(ratio - 1) > Math.max(spread, chance(pairs.length));
  return {
    ratio,
    spread,
    seeds: pairs.length,
    verdict: !isDifferent ? "no difference" : ratio < 1 ? "less" : "more",
  };
}

/** Where nothing runs both cost nothing. */
const times = (ours: number, theirs: number): number => (ours === theirs ? 1 : ours / theirs);

/** The cheapest arm of Karpenter's own settings, in the mean over the seeds, of those that ran the most seeds. */
export function cheapestOwn({ arms }: Group, weights: Weights): ArmRuns | undefined {
  const own = arms.filter(({ arm }) => !isHolder(arm));
  const seeds = Math.max(...own.map(({ runs }) => runs.length));
  const cost = ({ runs }: ArmRuns) => meanOf(runs, (run) => costOf(run, weights));
  return own.filter(({ runs }) => runs.length === seeds).toSorted((a, b) => cost(a) - cost(b))[0];
}
