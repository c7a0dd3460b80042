import { type Scale, scaleOf } from "../plots/scale.ts";
import type { Timeline } from "./timeline.ts";

/** Where everything goes; lengths in the units of the picture. */
export type Layout = Readonly<{
  width: number;
  height: number;
  /** The right end of the plot in time. */
  end: number;
  /** The margin at either side. */
  edge: number;
  plot: Readonly<{ left: number; right: number; top: number; bottom: number }>;
  x: Scale;
  /** One strip a scope that was held, above the lanes. */
  strips: ReadonlyMap<string, Readonly<{ top: number; height: number }>>;
  /** The row of launches; none where every launch is a lane's own beginning. */
  launches?: number;
  lane: (index: number) => Readonly<{ top: number; height: number; middle: number }>;
  showsNames: boolean;
}>;

export type LayoutOptions = Readonly<{
  width?: number;
  /** How far the plot continues after the timeline, for what is planned; by default not at all. */
  end?: number;
  /** All lanes together become no taller than this, however many there are. */
  lanesHeight?: number;
  /** The height of a lane, so that pictures can be compared; by default as tall as fits. */
  laneHeight?: number;
}>;

const tallest = 22;
const readable = 12;
const stripHeight = 22;
/** On a phone every unit counts. */
const narrow = 600;
/** Title, subtitle and the legend: one line, or three where the picture is narrow. */
const headerOf = (width: number): number => (width < narrow ? 128 : 92);
const footer = 40;
const edgeOf = (width: number): number => (width < narrow ? 12 : 24);

/** Gives every lane its room: tall and named while they are few, thin when they are hundreds. */
export function layOut(timeline: Timeline, options: LayoutOptions = {}): Layout {
  const { width = 1200, lanesHeight = 900, end = timeline.to } = options;
  const edge = edgeOf(width);
  const header = headerOf(width);
  const count = timeline.lanes.length;
  const pitch = options.laneHeight ?? Math.min(tallest, lanesHeight / Math.max(1, count));
  const showsNames = count > 0 && pitch >= readable;
  const scopes = [...new Set(timeline.holds.map(({ scope }) => scope))].toSorted();
  const names = [...scopes.map(scopeName), ...(showsNames ? timeline.lanes.map(({ node }) => node) : [])];
  const left = edge + gutterFor(names, width);
  const right = width - edge;

  const strips = new Map(
    scopes.map((scope, i) => [scope, { top: header + i * stripHeight, height: stripHeight - 6 }] as const),
  );
  const belowStrips = header + scopes.length * stripHeight;
  const hasLaunches = timeline.points.some(({ kind }) => kind === "launch");
  const top = belowStrips + (hasLaunches ? 20 : 0) + 4;
  const bottom = top + count * pitch;
  const gap = pitch > 6 ? Math.min(6, pitch * 0.3) : pitch * 0.15;
  const lane = (index: number) => {
    const laneTop = top + index * pitch + gap / 2;
    return { top: laneTop, height: pitch - gap, middle: top + (index + 0.5) * pitch };
  };
  return {
    width,
    height: bottom + footer,
    end,
    edge,
    plot: { left, right, top, bottom },
    x: scaleOf(timeline.from, end, left, right),
    strips,
    ...(hasLaunches && { launches: belowStrips + 10 }),
    lane,
    showsNames,
  };
}

/** Names longer than this are cut in the picture; the hint shows them whole. */
const longestName = (width: number): number => (width < narrow ? 14 : 24);

/** A name, cut to the room there is. */
export function cut(name: string, { width }: Pick<Layout, "width">): string {
  const longest = longestName(width);
  return name.length > longest ? `${name.slice(0, longest - 1)}…` : name;
}

/** What a scope's strip is called. */
export const scopeName = (scope: string): string =>
  scope === "cluster" ? "holds" : `holds of ${scope.replace("nodepool/", "")}`;

const gutterFor = (names: readonly string[], width: number): number =>
  Math.max(64, ...names.map((name) => cut(name, { width }).length * 6.6 + 12));
