import { formatDuration } from "../../lambda/core/duration.ts";
import { drawLines } from "../../report/plots/line-plot.ts";
import { markdownTable } from "../../scripts/markdown-table.ts";
import { constants, type Measured, mean, percentile, terms } from "./measure.ts";
import { product, rules } from "./rules.ts";
import { families, natural } from "./traces.ts";

/** Traces of so many bursts have to reach the goals. */
export const goalCount = 36;
const goals = { each: 1.15, average: 1.1 };

const beginMark = "<!-- figures written by npm run simulate -->";
const endMark = "<!-- end of figures -->";
export const plotFile = "images/auto-ratio.svg";

/** The page with the figures between its two marks replaced. */
export function withFigures(page: string, figures: string): string {
  const begin = page.indexOf(beginMark);
  const end = page.indexOf(endMark);
  if (begin < 0 || end < begin) throw new Error(`the page needs the lines ${beginMark} and ${endMark}`);
  return `${page.slice(0, begin + beginMark.length)}\n\n${figures}\n\n${page.slice(end)}`;
}

export function figuresOf(measured: readonly Measured[], traces: number): string {
  const atGoal = measured.filter(({ count }) => count === goalCount);
  const counts = [...new Set(measured.map(({ count }) => count))];
  const { relaunchCost, cap } = terms;
  return [
    `${measured.length * traces} traces: ${traces} of each of ${families.length} families at ${counts.join(", ")} bursts; ` +
      `\`relaunchCost\` ${formatDuration(relaunchCost)}, cap ${formatDuration(cap)}. A ratio of 1 is the best constant length in hindsight of the same trace.`,
    `**Traces of ${goalCount} bursts, mean ratio of every rule that was tried:**`,
    rulesTable(atGoal),
    `**\`hold=auto\` on these traces:**`,
    productTable(atGoal),
    verdict(atGoal),
    `![Cost above the best constant in hindsight against the number of bursts](${plotFile})`,
  ].join("\n\n");
}

const format = (ratio: number): string => ratio.toFixed(3);
const ratiosOf = ({ ratios }: Measured, rule: string): readonly number[] => ratios[rule] ?? [];
const isNatural = ({ family }: Measured): boolean => natural.includes(family);
const averageOf = (measured: readonly Measured[], rule: string): number =>
  mean(measured.filter(isNatural).map((one) => mean(ratiosOf(one, rule))));

function rulesTable(measured: readonly Measured[]): string {
  const rows = Object.keys(rules).map((rule) => [
    rule,
    ...measured.map((one) => format(mean(ratiosOf(one, rule)))),
    format(averageOf(measured, rule)),
  ]);
  const head = ["rule", ...measured.map(({ family }) => family), "mean without adversarial"];
  return markdownTable(
    head,
    rows,
    head.slice(1).map((_, at) => at + 1),
  );
}

function productTable(measured: readonly Measured[]): string {
  const everything = measured.filter(isNatural);
  const best = bestConstant(everything);
  const rows = measured.map((one) => {
    const ratios = ratiosOf(one, product);
    const constant = isNatural(one) ? format(one.cost / (one.costOfConstants[best] ?? 0)) : "";
    return [
      one.family,
      format(mean(ratios)),
      format(percentile(ratios, 0.95)),
      format(Math.max(...ratios)),
      constant,
    ];
  });
  const total = everything.reduce((sum, { cost }) => sum + cost, 0) / costOfConstant(everything, best);
  const average = ["all without adversarial", format(averageOf(measured, product)), "", "", format(total)];
  const named = `cost beside ${formatDuration(constants[best] ?? 0)}, the best constant for all`;
  return markdownTable(
    ["family", "mean ratio", "95th percentile", "worst", named],
    [...rows, average],
    [1, 2, 3, 4],
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
    .map((one) => ({ family: one.family, ratio: mean(ratiosOf(one, product)) }))
    .reduce((a, b) => (b.ratio > a.ratio ? b : a));
  const average = averageOf(measured, product);
  const others = Object.keys(rules).filter((rule) => rule !== product);
  const best = others.reduce((a, b) => (averageOf(measured, b) < averageOf(measured, a) ? b : a));
  const reached = (ok: boolean) => (ok ? "reached" : "**not reached**");
  return [
    `- At most ${goals.each} on each family without the adversary: ${format(worst.ratio)} (${worst.family}), ${reached(worst.ratio <= goals.each)}.`,
    `- At most ${goals.average} on average: ${format(average)}, ${reached(average <= goals.average)}.`,
    `- The best of the other rules is ${best} with ${format(averageOf(measured, best))}.`,
  ].join("\n");
}

/** What each rule costs above the best constant, against the number of bursts. */
export function plotOf(measured: readonly Measured[]): string {
  const counts = [...new Set(measured.map(({ count }) => count))];
  const series = Object.keys(rules).map((rule) => ({
    name: rule,
    points: counts.map(
      (count) =>
        [
          count,
          averageOf(
            measured.filter((one) => one.count === count),
            rule,
          ),
        ] as const,
    ),
  }));
  return `${drawLines({
    title: "How close each rule comes to the best constant in hindsight",
    subtitle: "Mean over all families without the adversary; each trace beside its own best constant length",
    x: { label: "bursts" },
    y: { label: "cost above the best constant", unit: "%" },
    series,
    width: 900,
  })}\n`;
}
