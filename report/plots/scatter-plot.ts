import { element, hint } from "../markup.ts";
import { picture, text } from "../page/picture.ts";
import {
  type Axis,
  axisName,
  drawSeriesLegend,
  drawValueAxis,
  formatNumber,
  frameOf,
  seriesColour,
} from "./plot-frame.ts";
import { numberTicks, scaleOf } from "./scale.ts";

/** One point of a series. */
export type ScatterPoint = Readonly<{ x: number; y: number }>;

export type ScatterPlot = Readonly<{
  title: string;
  subtitle?: string;
  x: Axis;
  y: Axis;
  series: readonly Readonly<{ name: string; points: readonly ScatterPoint[] }>[];
  width?: number;
  height?: number;
}>;

/** Points by two measures: who lies below and to the left of another is better by both. */
export function drawScatter(plot: ScatterPlot): string {
  const { title, subtitle = "", series, width = 620, height = 380 } = plot;
  // A series without points keeps its place, so that the others have the same colours in every plot.
  const drawnSeries = series
    .map((one, i) => ({ ...one, colour: seriesColour(i) }))
    .filter((one) => one.points.length > 0);
  const frame = frameOf(width, height, drawnSeries);
  const { left, right, top, bottom } = frame;
  const all = series.flatMap(({ points }) => points);
  const xTicks = numberTicks(Math.max(0, ...all.map(({ x }) => x)));
  const x = scaleOf(0, xTicks.at(-1) ?? 1, left, right);
  const { y, drawn } = drawValueAxis(plot.y, Math.max(0, ...all.map((point) => point.y)), frame);
  const xAxis = xTicks.map((tick) => {
    const label = text(x(tick), bottom + 18, formatNumber(tick), { "text-anchor": "middle", class: "faint" });
    return element("line", { x1: x(tick), x2: x(tick), y1: top, y2: bottom, class: "grid" }) + label;
  });
  const points = drawnSeries.flatMap(({ name, colour, points: ofSeries }) =>
    ofSeries.map((point) =>
      element(
        "circle",
        { cx: x(point.x), cy: y(point.y), r: 6, fill: colour, "fill-opacity": 0.85 },
        hint(
          `${name}: ${axisName(plot.x)} ${formatNumber(point.x)}, ${axisName(plot.y)} ${formatNumber(point.y)}`,
        ),
      ),
    ),
  );
  return picture(
    {
      width,
      height,
      title,
      description: `${axisName(plot.y)} against ${axisName(plot.x)}: ${drawnSeries.map(({ name }) => name).join(", ")}`,
    },
    text(24, 32, title, { class: "title" }),
    text(24, 54, subtitle, { class: "faint" }),
    drawSeriesLegend(drawnSeries, frame),
    drawn,
    ...xAxis,
    text(right, bottom + 40, axisName(plot.x), { "text-anchor": "end", class: "faint" }),
    ...points,
  );
}
