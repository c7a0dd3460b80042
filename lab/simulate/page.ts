import { formatDuration } from "../../lambda/core/duration.ts";
import type { Colour } from "../../report/page/picture.ts";
import { drawLines } from "../../report/plots/plot.ts";
import { markdownTable } from "../../scripts/markdown-table.ts";
import { arms as churned } from "../churn/arms.ts";
import { type Arm, arms, auto, bestPerNode, type Measured, meanOf, type Ratios, terms } from "./measure.ts";
import { families } from "./traces.ts";

/** Traces of this many bursts must reach the goals. */
export const goalCount = 144;
const goals = { mean: 1.25, beside: 1.05 };

export const plotFile = "auto-ratio.svg";

export function figuresOf(measured: readonly Measured[], traces: number): string {
  const atGoal = measured.filter(({ count }) => count === goalCount);
  const early = measured.filter(({ count }) => count !== goalCount);
  const rows = [
    ...atGoal.map(({ family, ratios }) => [family, ratios] as const),
    ...[...countsOf(early), goalCount].map(
      (count) => [`**mean, ${count} bursts**`, meanAt(measured, count)] as const,
    ),
  ];
  return [
    `${measured.length * traces} traces: ${traces} of each of ${families.length} families at ${countsOf(measured).join(", ")} bursts; ` +
      `\`relaunchCost\` ${formatDuration(terms.relaunchCost)}, cap ${formatDuration(terms.cap)}. The columns of families are of traces of ${goalCount} bursts. ` +
      "1 is the least that anyone could pay who knew the future: for each node and gap the smaller of the gap and `relaunchCost`. The best constants are chosen in hindsight, for each trace by itself.",
    ratiosTable(rows),
    verdict(atGoal),
    `![Cost above the offline optimum against the number of bursts](images/${plotFile})`,
  ].join("\n\n");
}

/** The arms by row, the work by column. */
export function ratiosTable(rows: readonly (readonly [string, Ratios])[]): string {
  const cells = arms.map((arm) => [arm, ...rows.map(([, ratios]) => ratios[arm].toFixed(2))]);
  return markdownTable(
    ["kept", ...rows.map(([name]) => name)],
    cells,
    rows.map((_, at) => at + 1),
  );
}

const countsOf = (measured: readonly Measured[]) => [...new Set(measured.map(({ count }) => count))];

const meanAt = (measured: readonly Measured[], at: number): Ratios =>
  meanOf(measured.filter(({ count }) => count === at).map(({ ratios }) => ratios));

function verdict(measured: readonly Measured[]): string {
  const mean = meanOf(measured.map(({ ratios }) => ratios))[auto];
  const worst = measured
    .map(({ family, ratios }) => ({ family, ratio: ratios[auto] / ratios[bestPerNode] }))
    .reduce((a, b) => (b.ratio > a.ratio ? b : a));
  const reached = (ok: boolean) => (ok ? "reached" : "**not reached**");
  return [
    `- At most ${goals.mean} on average: ${mean.toFixed(3)}, ${reached(mean <= goals.mean)}.`,
    `- At most ${goals.beside} times the best constant per node in hindsight on each family: ${worst.ratio.toFixed(3)} (${worst.family}), ${reached(worst.ratio <= goals.beside)}.`,
  ].join("\n");
}

/** What learning takes: cost above the optimum, by number of bursts. */
export function plotOf(measured: readonly Measured[]): string {
  const series = (name: string, arm: Arm, colour: Colour) => ({
    ...{ name, colour },
    points: countsOf(measured).map((count) => [count, (meanAt(measured, count)[arm] - 1) * 100] as const),
  });
  return drawLines({
    title: "Cost above the offline optimum",
    subtitle: "Mean over all families of traces",
    x: { label: "bursts" },
    y: { label: "cost above the optimum", unit: "%" },
    series: [
      series("hold=auto", auto, churned.auto.colour),
      series("best constant per node, in hindsight", bestPerNode, "held"),
      series("10m per node", "10m per node", "image"),
    ],
  });
}
