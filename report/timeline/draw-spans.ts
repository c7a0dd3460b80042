import { element, hint } from "../markup.ts";
import { type Colour, colour, text } from "../page/picture.ts";
import { type ClockStyle, formatSpan, formatTime } from "./clock.ts";
import { type Layout, scopeName } from "./layout.ts";
import type { HoldBand, Lane, Span, Timeline } from "./timeline.ts";

/** Every hold as a band behind the lanes, and as a bar on its scope's strip with a notch for each extension. */
export function drawHolds(timeline: Timeline, layout: Layout, clock: ClockStyle): string {
  const names = [...layout.strips].map(([scope, { top, height }]) =>
    text(layout.plot.left - 10, top + height - 4, layout.nameOf(scopeName(scope)), {
      "text-anchor": "end",
      "font-size": 11,
    }),
  );
  return names.join("") + timeline.holds.map((hold) => drawHold(hold, timeline, layout, clock)).join("");
}

function drawHold(hold: HoldBand, timeline: Timeline, layout: Layout, clock: ClockStyle): string {
  const strip = layout.strips.get(hold.scope);
  if (!strip) return "";
  const { top, height } = strip;
  const from = layout.x(Math.max(hold.from, timeline.from));
  const width = Math.max(2, layout.x(hold.to) - from);
  const band = { x: from, y: top, width, height: layout.plot.bottom - top, fill: colour("held") };
  const bar = { x: from, y: top, width, height, rx: 4, fill: colour("held") };
  const seen = hold.extensions.filter((at) => at >= timeline.from);
  const notches = seen.map((at) =>
    element("line", {
      x1: layout.x(at),
      x2: layout.x(at),
      y1: top + 3,
      y2: top + height - 3,
      stroke: colour("paper"),
      "stroke-width": 1.5,
      "stroke-opacity": 0.85,
    }),
  );
  const title = hint(formatHold(hold, clock));
  return element(
    "g",
    { class: "hold" },
    title,
    element("rect", { ...band, "fill-opacity": 0.1 }),
    element("rect", bar),
    ...planned(hold, timeline, layout, { y: top, height }),
    ...notches,
  );
}

/** The rest of a present hold, up to the picture's end. */
function planned(
  hold: HoldBand,
  { to }: Timeline,
  { x, end }: Layout,
  place: Readonly<{ y: number; height: number }>,
): string[] {
  const until = Math.min(hold.until, end);
  if (!hold.isOpen || hold.fencedAt !== undefined || until <= to) return [];
  const bar = { ...place, x: x(to), width: x(until) - x(to), rx: 4 };
  const dashed = { stroke: colour("held"), "stroke-dasharray": "4 3" };
  return [
    element("rect", { ...bar, ...dashed, class: "planned", fill: colour("held"), "fill-opacity": 0.15 }),
  ];
}

/** A hold in a sentence. */
function formatHold(hold: HoldBand, clock: ClockStyle): string {
  const at = (moment: number) => formatTime(moment, clock);
  const end = hold.isOpen ? "going on" : `until ${at(hold.to)} (${formatSpan(hold.to - hold.from)})`;
  const times = hold.extensions.length;
  const extended = times > 0 ? `, extended ${times === 1 ? "once" : `${times} times`}` : "";
  const why = [hold.because, hold.ended].filter(Boolean).join("; ended: ");
  const where = hold.scope === "cluster" ? "the whole cluster" : hold.scope;
  return `Hold of ${where} from ${at(hold.from)} ${end}${extended}${why && `. ${why}`}`;
}

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
  const seen = (spans: readonly Span[]) => spans.filter(({ to }) => to >= timeline.from);
  return [
    bar(lane, "free"),
    ...seen(lane.userHeld).map((span) => bar(span, "own")),
    ...seen(lane.held).map((span) => bar(span, "held")),
    ...seen(lane.excluded).map((span) => bar(span, "paper", "own")),
    ...(showsNames
      ? [
          text(plot.left - 10, middle + 4, layout.nameOf(lane.node), {
            "text-anchor": "end",
            class: "faint",
            "font-size": 11,
          }),
        ]
      : []),
  ];
}

/** A node in a sentence. */
function laneOf(lane: Lane, timeline: Timeline, clock: ClockStyle): string {
  const at = (moment: number) => formatTime(moment, clock);
  const sum = (spans: readonly Span[]) => spans.reduce((total, { from, to }) => total + to - from, 0);
  const joined = lane.from <= timeline.from ? "there from the beginning" : `joined ${at(lane.from)}`;
  const gone = lane.isOpen ? "still there" : `gone ${at(lane.to)}`;
  const held = lane.held.length > 0 ? `, held for ${formatSpan(sum(lane.held))}` : "";
  const own = lane.userHeld.length > 0 ? ", held by its user" : "";
  const never = lane.excluded.length > 0 ? ", kept out of holds by its label" : "";
  const pool = lane.nodePool && ` (${lane.nodePool})`;
  return `${lane.node}${pool}: ${joined}, ${gone}, lived ${formatSpan(lane.to - lane.from)}${held}${own}${never}`;
}
