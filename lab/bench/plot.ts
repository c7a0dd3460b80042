import { drawBars } from "../../report/plots/bar-plot.ts";
import { drawLines } from "../../report/plots/line-plot.ts";
import type { Plot } from "./figure.ts";

export const drawPlot = (plot: Plot): string =>
  "lines" in plot ? drawLines(plot.lines) : drawBars(plot.bars);

export const titleOf = (plot: Plot): string => ("lines" in plot ? plot.lines : plot.bars).title;
