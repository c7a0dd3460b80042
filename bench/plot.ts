import { drawBars } from "../report/bar-plot.ts";
import type { Bench, Figure } from "./figure.ts";

/** The benchmark's figures as bars; undefined where it has none to draw. */
export function plotOf({ title, axis }: Bench, figures: readonly Figure[]): string | undefined {
  const bars = figures.flatMap((figure) => figure.bars ?? []);
  if (!axis || bars.length === 0) return undefined;
  const series = [...new Set(bars.map((bar) => bar.series))];
  const groups = [...Map.groupBy(bars, (bar) => bar.group)].map(([name, ofGroup]) => ({
    name,
    values: series.map((one) => ofGroup.find((bar) => bar.series === one)?.value),
  }));
  return drawBars({ title, y: axis, series, groups });
}
