import { formatDuration } from "../../lambda/core/duration.ts";
import { drawLines } from "../../report/plots/plot.ts";
import { markdownTable } from "../../scripts/markdown-table.ts";
import { constants, type Measured, mean, percentile, type RuleName, terms } from "./measure.ts";
import { families, natural } from "./traces.ts";

/** Traces of this many bursts must reach the goals. */
export const goalCount = 36;
const goals = { each: 1.15, average: 1.1 };
const always = formatDuration(terms.relaunchCost);

export const plotFile = "auto-ratio.svg";

export function figuresOf(measured: readonly Measured[], traces: number): string {
  const atGoal = measured.filter(({ count }) => count === goalCount);
  return [
    `${measured.length * traces} traces: ${traces} of each of ${families.length} families at ${countsOf(measured).join(", ")} bursts; ` +
      `\`relaunchCost\` ${always}, cap ${formatDuration(terms.cap)}. The table is of traces of ${goalCount} bursts. A ratio of 1 is the best constant length in hindsight of the same trace.`,
    familiesTable(atGoal),
    verdict(atGoal),
    `![Cost above the best constant in hindsight against the number of bursts](images/${plotFile})`,
  ].join("\n\n");
}

const countsOf = (measured: readonly Measured[]) => [...new Set(measured.map(({ count }) => count))];
const format = (ratio: number): string => ratio.toFixed(3);
const isNatural = ({ family }: Measured): boolean => natural.includes(family);
const averageOf = (measured: readonly Measured[], rule: RuleName): number =>
  mean(measured.filter(isNatural).map(({ ratios }) => mean(ratios[rule])));

function familiesTable(measured: readonly Measured[]): string {
  const everything = measured.filter(isNatural);
  const best = bestConstant(everything);
  const rows = measured.map((one) => [
    one.family,
    format(mean(one.ratios.auto)),
    format(percentile(one.ratios.auto, 0.95)),
    format(Math.max(...one.ratios.auto)),
    format(mean(one.ratios.always)),
    isNatural(one) ? format(one.cost / (one.costOfConstants[best] ?? 0)) : "",
  ]);
  const total = everything.reduce((sum, { cost }) => sum + cost, 0) / costOfConstant(everything, best);
  const all = [averageOf(measured, "auto"), averageOf(measured, "always")].map(format);
  return markdownTable(
    [
      "family",
      "`auto`, mean ratio",
      "95th percentile",
      "worst",
      `always ${always}, mean ratio`,
      `cost of \`auto\` beside ${formatDuration(constants[best] ?? 0)}, the best constant for all`,
    ],
    [...rows, ["all without adversarial", all[0] ?? "", "", "", all[1] ?? "", format(total)]],
    [1, 2, 3, 4, 5],
  );
}

const costOfConstant = (measured: readonly Measured[], at: number): number =>
  measured.reduce((sum, { costOfConstants }) => sum + (costOfConstants[at] ?? 0), 0);

function bestConstant(measured: readonly Measured[]): number {
  const costs = constants.map((_, at) => costOfConstant(measured, at));
  return costs.indexOf(Math.min(...costs));
}

function verdict(measured: readonly Measured[]): string {
  const worst = measured
    .filter(isNatural)
    .map(({ family, ratios }) => ({ family, ratio: mean(ratios.auto) }))
    .reduce((a, b) => (b.ratio > a.ratio ? b : a));
  const average = averageOf(measured, "auto");
  const reached = (ok: boolean) => (ok ? "reached" : "**not reached**");
  return [
    `- At most ${goals.each} on each family without the adversary: ${format(worst.ratio)} (${worst.family}), ${reached(worst.ratio <= goals.each)}.`,
    `- At most ${goals.average} on average: ${format(average)}, ${reached(average <= goals.average)}.`,
  ].join("\n");
}

/** The cost of both rules above the best constant, by number of bursts. */
export function plotOf(measured: readonly Measured[]): string {
  const series = (name: string, rule: RuleName) => ({
    name,
    points: countsOf(measured).map((count) => {
      const ratio = averageOf(
        measured.filter((one) => one.count === count),
        rule,
      );
      return [count, (ratio - 1) * 100] as const;
    }),
  });
  return drawLines({
    title: "How close hold=auto comes to the best constant in hindsight",
    subtitle: "Mean over all families without the adversary; each trace beside its own best constant length",
    x: { label: "bursts" },
    y: { label: "cost above the best constant", unit: "%" },
    series: [series("hold=auto", "auto"), series(`always ${always}`, "always")],
    width: 900,
  });
}
