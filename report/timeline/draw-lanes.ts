import { element, hint } from "../markup.ts";
import { text } from "../page/picture.ts";
import { type Colour, colour } from "../page/style.ts";
import { type ClockStyle, formatSpan, formatTime } from "./clock.ts";
import { cut, type Layout } from "./layout.ts";
import type { Lane, Span, Timeline } from "./timeline.ts";

/** Every node's life as a bar, in the colour of who held it when. */
export function drawLanes(timeline: Timeline, layout: Layout, clock: ClockStyle): string {
  return timeline.lanes
    .map((lane, index) => {
      const title = hint(laneOf(lane, timeline, clock));
      return element("g", { class: "lane" }, title, ...drawLane(lane, index, timeline, layout));
    })
    .join("");
}

function drawLane(lane: Lane, index: number, timeline: Timeline, layout: Layout): string[] {
  const { plot, showsNames } = layout;
  const { top, height, middle } = layout.lane(index);
  const bar = (span: Span, fill: Colour, stroke?: Colour) => {
    const from = layout.x(Math.max(span.from, timeline.from));
    const width = Math.max(1.5, layout.x(span.to) - from);
    return element("rect", {
      x: from,
      y: top,
      width,
      height,
      rx: Math.min(3, height / 2),
      fill: colour(fill),
      ...(stroke && { stroke: colour(stroke), "stroke-dasharray": "4 3" }),
    });
  };
  return [
    bar(lane, "free"),
    ...lane.userHeld.map((span) => bar(span, "own")),
    ...lane.held.map((span) => bar(span, "held")),
    ...lane.excluded.map((span) => bar(span, "paper", "own")),
    ...(showsNames
      ? [
          text(plot.left - 10, middle + 4, cut(lane.node, layout), {
            "text-anchor": "end",
            class: "faint",
            "font-size": 11,
          }),
        ]
      : []),
  ];
}

/** A node in a sentence. */
export function laneOf(lane: Lane, timeline: Timeline, clock: ClockStyle): string {
  const at = (moment: number) => formatTime(moment, timeline.from, clock);
  const sum = (spans: readonly Span[]) => spans.reduce((total, { from, to }) => total + to - from, 0);
  const joined = lane.from <= timeline.from ? "there from the beginning" : `joined ${at(lane.from)}`;
  const gone = lane.isOpen ? "still there" : `gone ${at(lane.to)}`;
  const held = lane.held.length > 0 ? `, held for ${formatSpan(sum(lane.held), clock)}` : "";
  const own = lane.userHeld.length > 0 ? ", held by its user" : "";
  const never = lane.excluded.length > 0 ? ", kept out of holds by its label" : "";
  const pool = lane.nodePool && ` (${lane.nodePool})`;
  return `${lane.node}${pool}: ${joined}, ${gone}, lived ${formatSpan(lane.to - lane.from, clock)}${held}${own}${never}`;
}
