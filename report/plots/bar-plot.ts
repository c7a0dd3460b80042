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

/** One place on the axis, with a value for each series; undefined where there is none. */
export type BarGroup = Readonly<{ name: string; values: readonly (number | undefined)[] }>;

export type BarPlot = Readonly<{
  title: string;
  subtitle?: string;
  y: Axis;
  series: readonly string[];
  groups: readonly BarGroup[];
  width?: number;
  height?: number;
}>;

export type Bar = Readonly<{ x: number; width: number; group: number; series: number }>;

/** Where the bars stand: side by side within a group, and room between groups. */
export function placeBars(groups: number, series: number, left: number, right: number): readonly Bar[] {
  const pitch = (right - left) / Math.max(1, groups);
  const width = Math.min(56, (pitch * 0.76) / Math.max(1, series));
  return Array.from({ length: groups * series }, (_, i) => {
    const group = Math.floor(i / series);
    const within = i % series;
    const begin = left + (group + 0.5) * pitch - (width * series) / 2;
    return { x: begin + within * width, width: width * 0.92, group, series: within };
  });
}

/** Values beside each other as bars, each with its number on top. */
export function drawBars(plot: BarPlot): string {
  const { title, subtitle = "", series, groups, width = 760, height = 400 } = plot;
  const frame = frameOf(width, height);
  const { left, right, bottom } = frame;
  const largest = Math.max(0, ...groups.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const { y, drawn } = drawValueAxis(plot.y, largest, frame);
  const bars = placeBars(groups.length, series.length, left, right).map((bar) => {
    const group = groups[bar.group];
    const value = group?.values[bar.series];
    if (value === undefined) return "";
    const top = y(value);
    const place = { x: bar.x, y: top, width: bar.width, height: Math.max(0.5, bottom - top), rx: 2 };
    const unit = plot.y.unit ? ` ${plot.y.unit}` : "";
    const title = hint(`${group?.name}, ${series[bar.series]}: ${formatNumber(value)}${unit}`);
    const number = text(bar.x + bar.width / 2, top - 5, formatNumber(value), {
      "text-anchor": "middle",
      "font-size": 11,
    });
    return element("rect", { ...place, fill: seriesColour(bar.series) }, title) + number;
  });
  const names = groups.map(({ name }, i) =>
    text(left + ((i + 0.5) * (right - left)) / groups.length, bottom + 20, name, { "text-anchor": "middle" }),
  );
  const description = `${axisName(plot.y)} of ${groups.map(({ name }) => name).join(", ")}: ${series.join(", ")}`;
  return picture(
    { width, height, title, description },
    text(24, 32, title, { class: "title" }),
    text(24, 52, subtitle, { class: "faint" }),
    series.length > 1 ? drawSeriesLegend(series, 74) : "",
    drawn,
    ...bars,
    ...names,
  );
}
