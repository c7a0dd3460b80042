import { element } from "../markup.ts";
import { type Colour, colour, picture, text } from "../page/picture.ts";
import { timeTicks } from "../scale.ts";
import { type ClockStyle, counted, formatSpan, formatTime, localTime } from "./clock.ts";
import { drawPoints, shapeOf } from "./draw-points.ts";
import { drawHolds, drawLanes } from "./draw-spans.ts";
import type { PointKind } from "./events.ts";
import { edgeOf, type Layout, type LayoutOptions, layOut, legendRow, usualWidth } from "./layout.ts";
import type { Timeline } from "./timeline.ts";

export type TimelineOptions = LayoutOptions & Readonly<{ title: string; clock?: ClockStyle }>;

/** Nodes as lanes, holds as bands, and what happened as points: one picture, as SVG. */
export function drawTimeline(timeline: Timeline, options: TimelineOptions): string {
  const { title, clock = {} } = options;
  const legend = legendRowsOf(timeline, options.width ?? usualWidth);
  const layout = layOut(timeline, { ...options, legendRows: legend.length });
  const { width, height, edge } = layout;
  const description = summaryOf(timeline);
  return picture(
    { width, height, title, description, rules: ".knh .lane:hover rect{filter:brightness(1.15)}" },
    text(edge, 32, title, { class: "title" }),
    text(edge, 52, description, { class: "faint" }),
    ...legend,
    drawAxis(timeline, layout, clock),
    drawHolds(timeline, layout, clock),
    drawLaunchesName(layout),
    drawLanes(timeline, layout, clock),
    drawPoints(timeline, layout, clock),
    drawNow(timeline, layout),
  );
}

/** Between what happened and what is planned. */
function drawNow({ to }: Timeline, { end, x, plot, strips }: Layout): string {
  if (end <= to) return "";
  const top = Math.min(plot.top, ...[...strips.values()].map((strip) => strip.top)) - 4;
  const line = {
    x1: x(to),
    x2: x(to),
    y1: top,
    y2: plot.bottom,
    stroke: colour("launch"),
    "stroke-width": 1.5,
  };
  const label = {
    "text-anchor": "middle",
    "font-size": 11,
    style: `fill:${colour("launch")};font-weight:600`,
  };
  return element("g", { class: "now" }, element("line", line), text(x(to), top - 3, "now", label));
}

function drawAxis(timeline: Timeline, layout: Layout, clock: ClockStyle): string {
  const { left, right, top, bottom } = layout.plot;
  const most = Math.min(12, Math.floor((right - left) / 64));
  const ticks = timeTicks(timeline.from, layout.end, most);
  const rowAt = (row: number) => bottom + 18 + 14 * row;
  const rows = [(at: number) => formatTime(at, clock)];
  const units = ["UTC"];
  if (clock.offset) {
    rows.push((at) => localTime(at, clock));
    units.push("local");
  }
  const small = { class: "faint", "font-size": 11 };
  const lines = ticks.map((at) => {
    const x = layout.x(at);
    const anchor = { "text-anchor": right - x < 30 ? "end" : "middle" };
    const labels = rows.map((format, row) => text(x, rowAt(row), format(at), { ...anchor, ...small }));
    return element("line", { x1: x, x2: x, y1: top, y2: bottom + 4, class: "grid" }) + labels.join("");
  });
  const count =
    layout.showsNames || timeline.lanes.length === 0
      ? ""
      : text(layout.edge, (top + bottom) / 2, `${timeline.lanes.length}`, { "font-size": 11 }) +
        text(layout.edge, (top + bottom) / 2 + 14, "nodes", { "font-size": 11, class: "faint" });
  const named = units.map((one, row) => text(layout.edge, rowAt(row), one, small)).join("");
  const floor = element("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "grid" });
  return lines.join("") + floor + named + count;
}

const drawLaunchesName = ({ launches, plot }: Layout): string =>
  launches === undefined
    ? ""
    : text(plot.left - 10, launches + 4, "launches", { "text-anchor": "end", "font-size": 11 });

type Entry = Readonly<{ label: string; draw: (x: number, y: number) => string }>;

const swatch =
  (name: Colour, stroke?: Colour) =>
  (x: number, y: number): string =>
    element("rect", {
      x: x - 7,
      y: y - 5,
      width: 14,
      height: 10,
      rx: 3,
      fill: colour(name),
      ...(stroke && { stroke: colour(stroke), "stroke-dasharray": "4 3" }),
    });

/** Only what the picture shows is explained. */
function legendOf({ lanes, points, holds }: Timeline): readonly Entry[] {
  const has = (kind: PointKind) => points.some((point) => point.kind === kind);
  const point = (kind: PointKind, label: string): Entry[] =>
    has(kind) ? [{ label, draw: (x, y) => shapeOf(kind, x, y) }] : [];
  const isHeld = holds.length > 0 || lanes.some(({ held }) => held.length > 0);
  return [
    ...(lanes.length > 0 ? [{ label: "node", draw: swatch("free") }] : []),
    ...(isHeld ? [{ label: "held", draw: swatch("held") }] : []),
    ...(lanes.some(({ userHeld }) => userHeld.length > 0)
      ? [{ label: "held by its user", draw: swatch("own") }]
      : []),
    ...(lanes.some(({ excluded }) => excluded.length > 0)
      ? [{ label: "never held", draw: swatch("paper", "own") }]
      : []),
    ...point("launch", "launch"),
    ...point("release", "released"),
    ...point("handover", "handed over"),
    ...point("eviction", "pod evicted"),
    ...point("note", "something went wrong"),
  ];
}

/** The entries in as many rows as the width asks for. */
function legendRowsOf(timeline: Timeline, width: number): readonly string[] {
  const edge = edgeOf(width);
  const rows: string[] = [""];
  let x = edge + 7;
  for (const { label, draw } of legendOf(timeline)) {
    if (x + label.length * 6.2 + 12 > width - edge) {
      x = edge + 7;
      rows.push("");
    }
    const y = 74 + (rows.length - 1) * legendRow;
    rows[rows.length - 1] += draw(x, y) + text(x + 12, y + 4, label, { "font-size": 11 });
    x += label.length * 6.2 + 36;
  }
  return rows;
}

/** A picture in a sentence: for those who do not see it, and below its title. */
function summaryOf({ from, to, lanes, holds, points }: Timeline): string {
  const count = (kind: PointKind) => points.filter((point) => point.kind === kind).length;
  const parts = [
    ...(lanes.length > 0 ? [counted(lanes.length, "node")] : []),
    counted(holds.length, "hold"),
    ...(count("launch") > 0 ? [counted(count("launch"), "launch", "launches")] : []),
    ...(count("eviction") > 0 ? [counted(count("eviction"), "pod evicted", "pods evicted")] : []),
  ];
  return `${parts.join(", ")} in ${formatSpan(to - from)}`;
}
