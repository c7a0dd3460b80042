import { element, hint, short } from "../markup.ts";
import { type Colour, colour, text } from "../page/picture.ts";
import { type ClockStyle, formatTime } from "./clock.ts";
import type { Point, PointKind } from "./events.ts";
import type { Layout } from "./layout.ts";
import type { Timeline } from "./timeline.ts";

/** A shape of about this size at a place; each kind has its own, for colour-blind readers. */
type Shape = (x: number, y: number, size: number) => string;

const path = (d: string, attributes: Readonly<Record<string, string | number>>) =>
  element("path", { d, ...attributes });
const moves = (...steps: readonly (string | number)[]) =>
  steps.map((step) => (typeof step === "number" ? short(step) : step)).join(" ");

const cross: Shape = (x, y, r) => {
  const d = moves("M", x - r, y - r, "L", x + r, y + r, "M", x - r, y + r, "L", x + r, y - r);
  const line = { fill: "none", "stroke-linecap": "round" };
  const halo = { ...line, stroke: colour("paper"), "stroke-width": r * 0.6 + 2.2 };
  return path(d, halo) + path(d, { ...line, stroke: colour("eviction"), "stroke-width": r * 0.4 + 0.8 });
};
const triangle: Shape = (x, y, r) =>
  path(moves("M", x, y - r, "L", x + r, y + r * 0.8, "L", x - r, y + r * 0.8, "Z"), {
    fill: colour("launch"),
  });
const tick =
  (name: Colour): Shape =>
  (x, y, r) =>
    path(moves("M", x, y - r * 1.5, "L", x, y + r * 1.5), { stroke: colour(name), "stroke-width": 2 });
const flag: Shape = (x, y, r) =>
  element("circle", { cx: x, cy: y, r, fill: colour("eviction"), stroke: colour("paper") });

const ring: Shape = (x, y, r) =>
  element("circle", { cx: x, cy: y, r, fill: colour("paper"), stroke: colour("own"), "stroke-width": 1.6 });

const shapes: Readonly<Record<PointKind, Shape>> = {
  mark: tick("held"),
  release: tick("release"),
  handover: ring,
  launch: triangle,
  eviction: cross,
  note: flag,
};

/** The shape of a kind, for the legend. */
export const shapeOf = (kind: PointKind, x: number, y: number): string => shapes[kind](x, y, 4);

const smallest = 2.4;
const largest = 4.2;

/** All points, those that would lie on each other as one; evictions last, so that nothing hides them. */
export function drawPoints(timeline: Timeline, layout: Layout, clock: ClockStyle): string {
  const lanes = Map.groupBy(timeline.lanes.keys(), (index) => timeline.lanes[index]?.node ?? "");
  const kinds = Object.keys(shapes);
  const ordered = timeline.points.toSorted((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind));
  const heaps = Map.groupBy(ordered, ({ kind, node, at }) =>
    JSON.stringify([kind, node, Math.round(layout.x(at) / 7)]),
  );
  return [...heaps.values()].map((heap) => drawHeap(heap, timeline, layout, lanes, clock)).join("");
}

function drawHeap(
  heap: readonly Point[],
  timeline: Timeline,
  layout: Layout,
  lanes: ReadonlyMap<string, readonly number[]>,
  clock: ClockStyle,
): string {
  const [first] = heap;
  const place = first && placeOf(first, timeline, layout, lanes);
  if (!place) return "";
  const { kind, node } = first;
  const lines = heap.map(({ at, text: label }) => `${formatTime(at, clock)} ${label}`);
  const size = node === undefined ? largest : Math.min(largest, Math.max(smallest, place.room * 0.4));
  const isCounted = kind === "eviction" && heap.length > 1 && place.room > 8;
  const count = isCounted ? drawCount(heap.length, place) : "";
  const drawn = shapes[kind](place.x, place.y, size) + count;
  return element("g", { class: `point ${kind}` }, hint(lines.join("\n")), drawn);
}

const drawCount = (count: number, { x, y }: Place): string =>
  text(x + 8, y + 4, String(count), {
    "font-size": 11,
    "font-weight": 700,
    style: `fill:${colour("eviction")};paint-order:stroke;stroke:${colour("paper")};stroke-width:3px`,
  });

type Place = Readonly<{ x: number; y: number; room: number }>;

function placeOf(
  { at, kind, node }: Point,
  timeline: Timeline,
  layout: Layout,
  lanes: ReadonlyMap<string, readonly number[]>,
): Place | undefined {
  const x = layout.x(at);
  if (node === undefined)
    return { x, y: (kind === "launch" && layout.launches) || layout.plot.top, room: 10 };
  // A name may be used again: the point belongs to the node of that time, or to the one that had just ended.
  const index = lanes.get(node)?.findLast((one) => (timeline.lanes[one]?.from ?? 0) <= at);
  if (index === undefined) return undefined;
  const { middle, height } = layout.lane(index);
  return { x, y: middle, room: height };
}
