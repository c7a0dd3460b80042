import { decideHoldLength } from "../../lambda/core/auto/decide-hold-length.ts";
import { costOf, type Ending, endingsOf, type Gap } from "../../lambda/core/auto/gap.ts";
import type { Learned, Terms } from "../../lambda/core/auto/learned.ts";
import type { Duration } from "../../lambda/core/duration.ts";
import { exponential, type Random } from "./random.ts";

/** Another way to choose the length from what was learned. */
export type Rule = (learned: Learned, terms: Terms, random: Random) => Duration;

export const product = "auto";

/** The first is what the holder does; the others are what it was compared with. */
export const rules: Readonly<Record<string, Rule>> = {
  [product]: (learned, { relaunchCost, cap }) => decideHoldLength(learned, relaunchCost, { cap }).length,
  "ski rental": (_, { relaunchCost, cap }) => Math.min(relaunchCost, cap),
  "naive empirical cost": ({ gaps }, terms) => {
    if (gaps.length < 3) return terms.relaunchCost;
    return cheapest(asSeen(gaps, 12), [0, ...gaps.map(longestOf)], terms);
  },
  quantile: ({ gaps }, terms) => {
    if (gaps.length === 0) return terms.relaunchCost;
    const endings = endingsOf(gaps);
    return cheapest(endings, [0, quantileOf(endings, 0.9), terms.relaunchCost], terms);
  },
  "multiplicative weights": ({ gaps }, terms) => {
    const endings = endingsOf(gaps);
    const nodes = gaps.reduce((sum, gap) => sum + gap.nodes, 0) / Math.max(1, gaps.length);
    const rate = 2 / (terms.relaunchCost * Math.max(1, nodes));
    const weighted = grid(terms).map((at) => ({
      at,
      weight: Math.exp(-rate * totalCost(endings, at, terms)),
    }));
    return quantileOf(weighted, 0.5);
  },
  "Thompson sampling": ({ gaps }, terms, random) => {
    const sampled = endingsOf(gaps).map(({ at, weight }) => ({
      at,
      weight: weight * exponential(random, 1),
    }));
    return cheapest(sampled, [terms.relaunchCost, 0, ...sampled.map(({ at }) => at)], terms);
  },
};

const longestOf = ({ atLeast, atMost }: Gap): Duration => atMost ?? atLeast;

const asSeen = (gaps: readonly Gap[], halfLife: number): readonly Ending[] =>
  gaps.map((gap, index) => ({
    at: longestOf(gap),
    weight: gap.nodes * 0.5 ** ((gaps.length - 1 - index) / halfLife),
  }));

const totalCost = (endings: readonly Ending[], length: Duration, { relaunchCost }: Terms): number =>
  endings.reduce((sum, { at, weight }) => sum + weight * costOf(at, length, relaunchCost), 0);

function cheapest(endings: readonly Ending[], lengths: readonly Duration[], terms: Terms): Duration {
  const allowed = lengths.filter((length) => length <= terms.cap);
  const costs = allowed.map((length) => totalCost(endings, length, terms));
  return allowed[costs.indexOf(Math.min(...costs))] ?? 0;
}

function quantileOf(endings: readonly Ending[], share: number): Duration {
  let left = share * endings.reduce((sum, { weight }) => sum + weight, 0);
  for (const { at, weight } of endings.toSorted((a, b) => a.at - b.at)) {
    left -= weight;
    if (left <= 0) return at;
  }
  return 0;
}

/** Lengths from none to the cap, each a quarter longer than the one before. */
function grid({ relaunchCost, cap }: Terms): readonly Duration[] {
  const steps = Math.ceil(Math.log((20 * cap) / relaunchCost) / Math.log(1.25));
  return [0, ...Array.from({ length: steps }, (_, i) => Math.min(cap, (relaunchCost / 20) * 1.25 ** i))];
}
