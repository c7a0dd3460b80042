import { element } from "../markup.ts";
import { picture, text } from "../page/picture.ts";
import { type Colour, colour } from "../page/style.ts";
import { drawPoints, shapeOf } from "../plots/draw-points.ts";
import type { PointKind } from "../plots/points.ts";
import { timeTicks } from "../plots/scale.ts";
import { type ClockStyle, formatTime, realMinute } from "./clock.ts";
import { drawHolds } from "./draw-holds.ts";
import { drawLanes } from "./draw-lanes.ts";
import { type Layout, type LayoutOptions, layOut } from "./layout.ts";
import { summaryOf } from "./summary.ts";
import type { Timeline } from "./timeline.ts";

export type TimelineOptions = LayoutOptions &
  Readonly<{ title: string; subtitle?: string; clock?: ClockStyle }>;

const elapsed: ClockStyle = { kind: "elapsed", minute: realMinute };

/** Nodes as lanes, holds as bands, and what happened as points: one picture, as SVG. */
export function drawTimeline(timeline: Timeline, options: TimelineOptions): string {
  const { title, clock = elapsed } = options;
  const layout = layOut(timeline, options);
  const { width, height } = layout;
  const description = summaryOf(timeline, clock);
  const subtitle = options.subtitle ?? description;
  return picture(
    { width, height, title, description, rules: ".knh .lane:hover rect{filter:brightness(1.15)}" },
    text(24, 32, title, { class: "title" }),
    text(24, 52, subtitle, { class: "faint" }),
    drawLegend(timeline, 24, 74),
    drawAxis(timeline, layout, clock),
    drawHolds(timeline, layout, clock),
    drawLaunchesName(layout),
    drawLanes(timeline, layout, clock),
    drawPoints(timeline, layout, clock),
  );
}

function drawAxis(timeline: Timeline, layout: Layout, clock: ClockStyle): string {
  const { left, right, top, bottom } = layout.plot;
  const factor = clock.kind === "elapsed" ? realMinute / clock.minute : 1;
  const origin = clock.kind === "elapsed" ? timeline.from * factor : 0;
  const ticks = timeTicks(timeline.from * factor, timeline.to * factor, origin).map((tick) => tick / factor);
  const unit = clock.kind === "utc" ? "UTC" : clock.minute === realMinute ? "min:s" : "scaled min:s";
  const lines = ticks.map((at) => {
    const x = layout.x(at);
    const label = text(x, bottom + 18, formatTime(at, timeline.from, clock), {
      "text-anchor": right - x < 30 ? "end" : "middle",
      class: "faint",
      "font-size": 11,
    });
    return element("line", { x1: x, x2: x, y1: top, y2: bottom + 4, class: "grid" }) + label;
  });
  const count =
    layout.showsNames || timeline.lanes.length === 0
      ? ""
      : text(24, (top + bottom) / 2, `${timeline.lanes.length}`, { "font-size": 11 }) +
        text(24, (top + bottom) / 2 + 14, "nodes", { "font-size": 11, class: "faint" });
  const named = text(24, bottom + 18, unit, { class: "faint", "font-size": 11 });
  const floor = element("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "grid" });
  return lines.join("") + floor + named + count;
}

const drawLaunchesName = ({ launches, plot }: Layout): string =>
  launches === undefined
    ? ""
    : text(plot.left - 10, launches + 4, "launches", { "text-anchor": "end", "font-size": 11 });

type Entry = Readonly<{ label: string; draw: (x: number, y: number) => string }>;

const swatch =
  (name: Colour) =>
  (x: number, y: number): string =>
    element("rect", { x: x - 7, y: y - 5, width: 14, height: 10, rx: 3, fill: colour(name) });

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
    ...point("launch", "launch"),
    ...point("release", "released"),
    ...point("eviction", "pod evicted"),
    ...point("image", "image pulled"),
    ...point("note", "something went wrong"),
  ];
}

function drawLegend(timeline: Timeline, left: number, y: number): string {
  let x = left + 7;
  return legendOf(timeline)
    .map(({ label, draw }) => {
      const drawn = draw(x, y) + text(x + 12, y + 4, label, { "font-size": 11 });
      x += label.length * 6.2 + 36;
      return drawn;
    })
    .join("");
}
