import { element, hint, short } from "../markup.ts";
import { type Colour, colour, picture, seriesColours, text } from "../page/picture.ts";
import { numberTicks, type Scale, scaleOf } from "./scale.ts";

/** What an axis measures. */
type Axis = Readonly<{ label: string; unit?: string }>;

type Point = readonly [x: number, y: number];
/** Without a colour of its own, a series has the one of its place. */
type Series = Readonly<{ name: string; points: readonly Point[]; colour?: Colour }>;

/** Values against values. */
export type Plot = Readonly<{
  title: string;
  subtitle?: string;
  x: Axis;
  y: Axis;
  series: readonly Series[];
  /** A place on the x axis that deserves a word, such as what is recommended. */
  note?: Readonly<{ x: number; text: string }>;
  /** A point of a scatter plot that has a ring, and what that means. */
  ring?: Readonly<{ at: Point; text: string }>;
}>;

/** As wide as can be read on a phone. */
const width = 460;
const height = 340;

/** Each series as a line with its points. */
export const drawLines = (plot: Plot): string => draw(plot, true);

/** Points alone: who lies below and to the left of another is better by both measures. */
export const drawScatter = (plot: Plot): string => draw(plot, false);

/** A series as the legend names it. */
type Named = Omit<Series, "colour"> & Readonly<{ colour: string }>;
type Frame = Readonly<{ left: number; right: number; top: number; bottom: number }>;

const margin = 24;
const legendRow = 18;

function draw(plot: Plot, isJoined: boolean): string {
  const { title, subtitle = "", note, ring } = plot;
  // A series without points keeps its place, so that the others have the same colours in every plot.
  const series = plot.series
    .map((one, i) => ({
      ...one,
      colour: colour(one.colour ?? seriesColours[i % seriesColours.length] ?? "free"),
    }))
    .filter(({ points }) => points.length > 0);
  // A single line is named by the axis.
  const names = plot.series.length > 1 ? series : [];
  const legend = placeNames([...names, ...(ring ? [{ name: ring.text }] : [])]);
  const frame: Frame = {
    left: 72,
    right: width - 28,
    top: 120 + legendRow * Math.max(0, legend.length - 1),
    bottom: height - 56,
  };
  const all = series.flatMap(({ points }) => points);
  const xTicks = numberTicks(Math.max(0, note?.x ?? 0, ...all.map(([at]) => at)), isJoined ? 8 : 5);
  const yTicks = numberTicks(Math.max(0, ...all.map(([, value]) => value)));
  const x = scaleOf(0, xTicks.at(-1) ?? 1, frame.left, frame.right);
  const y = scaleOf(0, yTicks.at(-1) ?? 1, frame.bottom, frame.top);
  return picture(
    { width, height, title, description: describe(plot, series) },
    text(margin, 32, title, { class: "title" }),
    text(margin, 52, subtitle, { class: "faint" }),
    ...legend.flatMap(drawNames),
    drawValues(plot.y, yTicks, y, frame),
    drawBottom(plot.x, xTicks, x, { ...frame, hasLines: !isJoined }),
    note ? drawNote(note, x(note.x), frame) : "",
    ...(isJoined ? series.map((one) => drawLine(one, x, y)) : []),
    drawDots(series, plot, x, y, isJoined),
  );
}

function drawLine({ points, colour: stroke }: Named, x: Scale, y: Scale): string {
  const ordered = points.toSorted(([a], [b]) => a - b);
  const d = ordered.map(([at, value], i) => `${i === 0 ? "M" : "L"}${short(x(at))} ${short(y(value))}`);
  return element("path", {
    d: d.join(""),
    fill: "none",
    stroke,
    "stroke-width": 2,
    "stroke-linejoin": "round",
  });
}

/** Every point. Of the points at one place in a scatter plot the first are the largest, so that each is seen. */
function drawDots(series: readonly Named[], plot: Plot, x: Scale, y: Scale, isJoined: boolean): string {
  const dots = series.flatMap(({ name, points, colour: fill }) =>
    points.map(([at, value]) => ({
      ...{ cx: x(at), cy: y(value), fill },
      label: `${name}: ${inUnit(value, plot.y)} at ${inUnit(at, plot.x)}`,
    })),
  );
  const circles = dots.map(({ label, ...dot }, i) => {
    const isHere = ({ cx, cy }: { cx: number; cy: number }) => Math.hypot(cx - dot.cx, cy - dot.cy) < 3;
    const r = isJoined ? 3.5 : 5 + 3 * dots.slice(i + 1).filter(isHere).length;
    return element("circle", { ...dot, r }, hint(label));
  });
  const ring = plot.ring ? drawRing(x(plot.ring.at[0]), y(plot.ring.at[1]), 17) : "";
  return circles.join("") + ring;
}

const drawRing = (cx: number, cy: number, r: number): string =>
  element("circle", { cx, cy, r, fill: "none", stroke: "currentColor", "stroke-width": 1.5 });

/** The lines to read values from, with the axis' name above them. */
function drawValues(axis: Axis, ticks: readonly number[], y: Scale, { left, right, top }: Frame): string {
  const lines = ticks.map((tick) => {
    const at = y(tick);
    const label = text(left - 8, at + 4, formatNumber(tick), { "text-anchor": "end", class: "faint" });
    return element("line", { x1: left, x2: right, y1: at, y2: at, class: "grid" }) + label;
  });
  return lines.join("") + text(margin, top - 18, axisName(axis), { class: "faint" });
}

function drawBottom(
  axis: Axis,
  ticks: readonly number[],
  x: Scale,
  { left, right, top, bottom, hasLines }: Frame & Readonly<{ hasLines: boolean }>,
): string {
  const middle = { "text-anchor": "middle", class: "faint" };
  const labels = ticks.map((tick) => {
    const at = x(tick);
    const line = { x1: at, x2: at, y1: top, y2: bottom, class: "grid" };
    return (hasLines ? element("line", line) : "") + text(at, bottom + 18, formatNumber(tick), middle);
  });
  return labels.join("") + text((left + right) / 2, bottom + 40, axisName(axis), middle);
}

function drawNote({ text: label }: NonNullable<Plot["note"]>, place: number, frame: Frame): string {
  const { top, bottom, left, right } = frame;
  const isRight = place > (left + right) / 2;
  const dashed = { stroke: colour("release"), "stroke-dasharray": "4 4" };
  return (
    element("line", { x1: place, x2: place, y1: top - 4, y2: bottom, ...dashed }) +
    // Above the plot, where no line can cross it.
    text(place + (isRight ? 6 : -6), top - 6, label, { "text-anchor": isRight ? "end" : "start" })
  );
}

/** A name of the legend; the ring's has no colour. */
type Entry = Readonly<{ name: string; colour?: string }>;
type Placed = Entry & Readonly<{ x: number }>;

/** The names in as many rows as the width asks for. */
function placeNames(entries: readonly Entry[]): readonly (readonly Placed[])[] {
  const rows: Placed[][] = [];
  let x = width;
  for (const { name, colour } of entries) {
    const needs = name.length * 6.6 + 40;
    if (x + needs > width - margin) {
      rows.push([]);
      x = margin;
    }
    rows.at(-1)?.push({ name, x, ...(colour && { colour }) });
    x += needs;
  }
  return rows;
}

/** One row of the legend. */
const drawNames = (row: readonly Placed[], index: number): readonly string[] =>
  row.map(({ name, colour, x }) => {
    const y = 76 + index * legendRow;
    const swatch = { x, y: y - 9, width: 12, height: 10, rx: 3, fill: colour };
    return (colour ? element("rect", swatch) : drawRing(x + 6, y - 4, 5)) + text(x + 18, y, name);
  });

function describe({ x, y, note, ring }: Plot, series: readonly Named[]): string {
  const names = series.map(({ name, points }) => `${name} from ${points.length} values`);
  const ringed = ring && `${ring.text}: ${inUnit(ring.at[1], y)} at ${inUnit(ring.at[0], x)}`;
  const notes = [note?.text, ringed].filter(Boolean).map((one) => `. ${one}`);
  return `${axisName(y)} against ${axisName(x)}: ${names.join(", ")}${notes.join("")}`;
}

const axisName = ({ label, unit }: Axis): string => (unit ? `${label} (${unit})` : label);

const inUnit = (value: number, { unit }: Axis): string => formatNumber(value) + (unit ? ` ${unit}` : "");

/** A number as a reader wants it: 1,234 or 0.25. */
export const formatNumber = (value: number): string =>
  value.toLocaleString("en", { maximumSignificantDigits: Math.abs(value) >= 1_000 ? 15 : 3 });
