import { element } from "../markup.ts";
import { colour, seriesColours, text } from "../page/picture.ts";
import { numberTicks, type Scale, scaleOf } from "./scale.ts";

/** What an axis measures. */
export type Axis = Readonly<{ label: string; unit?: string }>;

export type Frame = Readonly<{
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}>;

const margin = 24;
const legendRow = 18;

/** A series as the legend names it. */
export type Named = Readonly<{ name: string; colour: string }>;

/** The place of the values, below a legend of these series. */
export const frameOf = (width: number, height: number, series: readonly Named[]): Frame => ({
  width,
  height,
  left: 72,
  right: width - 28,
  top: 120 + legendRow * Math.max(0, placeNames(series, width).length - 1),
  bottom: height - 56,
});

export const seriesColour = (index: number): string =>
  colour(seriesColours[index % seriesColours.length] ?? "free");

export const axisName = ({ label, unit }: Axis): string => (unit ? `${label} (${unit})` : label);

/** A number as a reader wants it: 1,234 or 0.25. */
export const formatNumber = (value: number): string =>
  value.toLocaleString("en", { maximumSignificantDigits: Math.abs(value) >= 1_000 ? 15 : 3 });

/** The lines to read values from, with the axis' name above them. */
export function drawValueAxis(
  axis: Axis,
  largest: number,
  frame: Frame,
): Readonly<{ y: Scale; drawn: string }> {
  const { left, right, top, bottom } = frame;
  const ticks = numberTicks(largest);
  const y = scaleOf(0, ticks.at(-1) ?? 1, bottom, top);
  const lines = ticks.map((tick) => {
    const at = y(tick);
    const label = text(left - 8, at + 4, formatNumber(tick), { "text-anchor": "end", class: "faint" });
    return element("line", { x1: left, x2: right, y1: at, y2: at, class: "grid" }) + label;
  });
  return { y, drawn: lines.join("") + text(margin, top - 18, axisName(axis), { class: "faint" }) };
}

type Placed = Named & Readonly<{ x: number }>;

/** The names in as many rows as the width asks for. */
function placeNames(series: readonly Named[], width: number): readonly (readonly Placed[])[] {
  const rows: Placed[][] = [];
  let x = width;
  for (const { name, colour } of series) {
    const needs = name.length * 6.6 + 40;
    if (x + needs > width - margin) {
      rows.push([]);
      x = margin;
    }
    rows.at(-1)?.push({ name, colour, x });
    x += needs;
  }
  return rows;
}

/** Names of series beside their colours. */
export function drawSeriesLegend(series: readonly Named[], { width }: Frame): string {
  const drawn = placeNames(series, width).flatMap((row, i) =>
    row.map(({ name, colour, x }) => {
      const y = 76 + i * legendRow;
      const swatch = { x, y: y - 9, width: 12, height: 10, rx: 3, fill: colour };
      return element("rect", swatch) + text(x + 18, y, name);
    }),
  );
  return drawn.join("");
}
