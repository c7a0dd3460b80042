import { element, hint, short } from "../markup.ts";
import { colour, picture, text } from "../page/picture.ts";
import { table } from "../page/tables.ts";
import {
  type Axis,
  axisName,
  drawSeriesLegend,
  drawValueAxis,
  type Frame,
  formatNumber,
  frameOf,
  seriesColour,
} from "./plot-frame.ts";
import { numberTicks, type Scale, scaleOf } from "./scale.ts";

export type Series = Readonly<{ name: string; points: readonly (readonly [x: number, y: number])[] }>;

export type LinePlot = Readonly<{
  title: string;
  subtitle?: string;
  x: Axis;
  y: Axis;
  series: readonly Series[];
  /** A place on the x axis that deserves a word, such as what is recommended. */
  note?: Readonly<{ x: number; text: string }>;
  width?: number;
  height?: number;
}>;

/** Values against values as lines with their points. */
export function drawLines(plot: LinePlot): string {
  const { title, subtitle = "", series, note, width = 760, height = 420 } = plot;
  // A single line is named by the axis.
  const named = series.length > 1 ? series.map(({ name }, i) => ({ name, colour: seriesColour(i) })) : [];
  const frame = frameOf(width, height, named);
  const all = series.flatMap(({ points }) => points);
  const { y, drawn } = drawValueAxis(plot.y, Math.max(0, ...all.map(([, value]) => value)), frame);
  const xTicks = numberTicks(Math.max(0, note?.x ?? 0, ...all.map(([value]) => value)), 8);
  const x = scaleOf(0, xTicks.at(-1) ?? 1, frame.left, frame.right);
  return picture(
    { width, height, title, description: describe(plot) },
    text(24, 32, title, { class: "title" }),
    text(24, 52, subtitle, { class: "faint" }),
    drawSeriesLegend(named, frame),
    drawn,
    drawHorizontalAxis(plot.x, xTicks, x, frame),
    note ? drawNote(note, x, frame) : "",
    ...series.map((one, i) => drawSeries(one, i, x, y, plot)),
  );
}

/** The plot's values as a table. */
export function lineTable({ title, x, y, series }: LinePlot): string {
  const isNamed = series.length > 1;
  const rows = series.flatMap(({ name, points }) =>
    points.map(([at, value]) => [...(isNamed ? [name] : []), formatNumber(at), formatNumber(value)]),
  );
  return table(title, [...(isNamed ? [""] : []), axisName(x), axisName(y)], rows);
}

function drawSeries({ name, points }: Series, index: number, x: Scale, y: Scale, plot: LinePlot): string {
  const stroke = seriesColour(index);
  const ordered = points.toSorted(([a], [b]) => a - b);
  const d = ordered
    .map(([at, value], i) => `${i === 0 ? "M" : "L"}${short(x(at))} ${short(y(value))}`)
    .join("");
  const dots = ordered.map(([at, value]) => {
    const unit = plot.y.unit ? ` ${plot.y.unit}` : "";
    const label =
      `${name}: ${formatNumber(value)}${unit} at ${formatNumber(at)} ${plot.x.unit ?? ""}`.trimEnd();
    return element("circle", { cx: x(at), cy: y(value), r: 3.5, fill: stroke }, hint(label));
  });
  const line =
    d && element("path", { d, fill: "none", stroke, "stroke-width": 2, "stroke-linejoin": "round" });
  return line + dots.join("");
}

function drawHorizontalAxis(
  axis: Axis,
  ticks: readonly number[],
  x: Scale,
  { left, right, bottom }: Frame,
): string {
  const labels = ticks.map((tick) =>
    text(x(tick), bottom + 18, formatNumber(tick), { "text-anchor": "middle", class: "faint" }),
  );
  const name = text((left + right) / 2, bottom + 40, axisName(axis), {
    "text-anchor": "middle",
    class: "faint",
  });
  return labels.join("") + name;
}

function drawNote(
  { x: at, text: label }: NonNullable<LinePlot["note"]>,
  x: Scale,
  { top, bottom, left, right }: Frame,
) {
  const place = x(at);
  const isRight = place > (left + right) / 2;
  const line = {
    x1: place,
    x2: place,
    y1: top - 4,
    y2: bottom,
    stroke: colour("release"),
    "stroke-dasharray": "4 4",
  };
  return (
    element("line", line) +
    // Above the plot, where no line can cross it.
    text(place + (isRight ? 6 : -6), top - 6, label, { "text-anchor": isRight ? "end" : "start" })
  );
}

function describe({ x, y, series, note }: LinePlot): string {
  const lines = series.map(({ name, points }) => `${name} from ${points.length} values`);
  return `${axisName(y)} against ${axisName(x)}: ${lines.join(", ")}${note ? `. ${note.text}` : ""}`;
}
