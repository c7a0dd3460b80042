import { element, escaped } from "../markup.ts";
import { text } from "../page/picture.ts";
import { colour, seriesColours } from "../page/style.ts";
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

export const frameOf = (width: number, height: number): Frame => ({
  width,
  height,
  left: 72,
  right: width - 28,
  top: 120,
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
  return { y, drawn: lines.join("") + text(24, top - 18, axisName(axis), { class: "faint" }) };
}

/** Names of series beside their colours, in one row. */
export function drawSeriesLegend(names: readonly string[], y: number): string {
  let x = 24;
  return names
    .map((name, i) => {
      const swatch = element("rect", { x, y: y - 9, width: 12, height: 10, rx: 3, fill: seriesColour(i) });
      const drawn = swatch + text(x + 18, y, name);
      x += name.length * 6.6 + 40;
      return drawn;
    })
    .join("");
}

const cell = (name: "td" | "th", content: string) =>
  element(name, name === "th" ? { scope: "col" } : {}, escaped(content));

/** The same values as a table, for those who do not see the plot. */
export function valueTable(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const shown = (value: string | number) => (typeof value === "number" ? formatNumber(value) : value);
  return element(
    "table",
    {},
    element("caption", {}, escaped(caption)),
    element("thead", {}, element("tr", {}, ...columns.map((column) => cell("th", column)))),
    element(
      "tbody",
      {},
      ...rows.map((row) => element("tr", {}, ...row.map((value) => cell("td", shown(value))))),
    ),
  );
}
