import { decideHoldLength } from "../../lambda/core/auto/hold-length.ts";
import type { Terms } from "../../lambda/core/auto/learned.ts";
import { type Duration, hours, minutes } from "../../lambda/core/duration.ts";
import { costOfBestConstant, costOfConstant, play, type Rule } from "./play.ts";
import { type Family, families, traceOf } from "./traces.ts";

/** The defaults of the settings. */
export const terms: Terms = { relaunchCost: minutes(10), cap: hours(2) };

/** The holder's rule, and the constant length that its bound is stated for. */
const rules = {
  auto: (learned, { relaunchCost, cap }) => decideHoldLength(learned, relaunchCost, { cap }).length,
  always: (_, { relaunchCost, cap }) => Math.min(relaunchCost, cap),
} satisfies Record<string, Rule>;
export type RuleName = keyof typeof rules;

/** Lengths that one user might choose for all scopes. */
export const constants: readonly Duration[] = [0, 1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120].map(
  minutes,
);

/** One family at one number of bursts: what each rule cost, as a ratio to the best constant of the same trace. */
export type Measured = Readonly<{
  family: Family;
  count: number;
  ratios: Readonly<Record<RuleName, readonly number[]>>;
  /** The holder's cost over all traces, and what each constant would have cost. */
  cost: number;
  costOfConstants: readonly number[];
}>;

export type Step = Readonly<{ family: Family; count: number }>;

export const stepsFor = (counts: readonly number[]): readonly Step[] =>
  counts.flatMap((count) => families.map((family) => ({ family, count })));

/** The share of the work that a step takes. */
export const workOf = ({ count }: Step): number => count ** 1.7;

export function measure(
  { family, count }: Step,
  traces: number,
  advance: (share: number) => void = () => {},
): Measured {
  const ratios: Record<RuleName, number[]> = { auto: [], always: [] };
  let cost = 0;
  const costOfConstants = constants.map(() => 0);
  for (let number = 0; number < traces; number++) {
    advance(number / traces);
    for (const name of ["auto", "always"] as const) {
      // An adversary's bursts depend on the rule, so every rule has its own best constant.
      const played = play(traceOf(family, number, count), count, rules[name], terms);
      ratios[name].push(played.cost / costOfBestConstant(played.bursts, terms));
      if (name !== "auto") continue;
      cost += played.cost;
      constants.forEach((length, at) => {
        costOfConstants[at] = (costOfConstants[at] ?? 0) + costOfConstant(played.bursts, length, terms);
      });
    }
  }
  return { family, count, ratios, cost, costOfConstants };
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
