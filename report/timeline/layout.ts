import { type Scale, scaleOf } from "../scale.ts";
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
  /** What a node or a scope's strip is called, in the room that there is. */
  nameOf: (name: string) => string;
}>;

export type LayoutOptions = Readonly<{
  width?: number;
  /** How far the plot continues after the timeline, for what is planned; by default not at all. */
  end?: number;
  /** How many rows the legend has; one by default. */
  legendRows?: number;
}>;

export const usualWidth = 1200;
const tallest = 22;
/** All lanes together become no taller than this, however many there are. */
const lanesHeight = 900;
const readable = 12;
const stripHeight = 22;
/** On a phone every unit counts. */
const narrow = 600;
/** Title, subtitle and the legend. */
const headerOf = (legendRows: number): number => 74 + legendRows * legendRow;
export const legendRow = 18;
const footer = 40;
export const edgeOf = (width: number): number => (width < narrow ? 12 : 24);

/** Gives every lane its room: tall and named while they are few, thin when they are hundreds. */
export function layOut(timeline: Timeline, options: LayoutOptions = {}): Layout {
  const { width = usualWidth, end = timeline.to } = options;
  const edge = edgeOf(width);
  const header = headerOf(options.legendRows ?? 1);
  const count = timeline.lanes.length;
  const pitch = Math.min(tallest, lanesHeight / Math.max(1, count));
  const showsNames = count > 0 && pitch >= readable;
  const scopes = [...new Set(timeline.holds.map(({ scope }) => scope))].toSorted();
  const longest = width < narrow ? 14 : 24;
  const names = new Map([
    ...scopes.map((scope) => [scopeName(scope), cut(scopeName(scope), longest)] as const),
    ...(showsNames
      ? shortNames(
          timeline.lanes.map(({ node }) => node),
          longest,
        )
      : []),
  ]);
  const left = edge + Math.max(64, ...[...names.values()].map((name) => name.length * 6.6 + 12));
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
    nameOf: (name) => names.get(name) ?? name,
  };
}

/**
 * Names as the picture shows them; hints show them whole. What all names have in common after a dot, like
 * `.eu-central-1.compute.internal`, is left out. What is still too long is cut in the middle, because names of nodes
 * differ at their end.
 */
export function shortNames(names: readonly string[], longest: number): ReadonlyMap<string, string> {
  const common = commonEnd(names.filter((name) => name.includes(".")));
  const withoutEnd = (name: string) =>
    name.endsWith(common) ? name.slice(0, name.length - common.length) : name;
  const isDistinct = new Set(names.map(withoutEnd)).size === new Set(names).size;
  return new Map(names.map((name) => [name, cut(isDistinct ? withoutEnd(name) : name, longest)]));
}

/** The longest end that begins with a dot and that all names have; empty without one. */
function commonEnd([first = "", ...others]: readonly string[]): string {
  for (let at = first.indexOf(".", 1); at > 0; at = first.indexOf(".", at + 1))
    if (others.every((name) => name.endsWith(first.slice(at)))) return first.slice(at);
  return "";
}

/** The start and the end of a name that is too long. */
export function cut(name: string, longest: number): string {
  if (name.length <= longest) return name;
  const end = Math.floor(longest / 2);
  return `${name.slice(0, longest - 1 - end)}…${name.slice(-end)}`;
}

/** What a scope's strip is called. */
export const scopeName = (scope: string): string =>
  scope === "cluster" ? "holds" : `holds of ${scope.replace("nodepool/", "")}`;
