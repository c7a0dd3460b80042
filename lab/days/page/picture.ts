import { element, hint, short } from "../../../report/markup.ts";
import { picture, text } from "../../../report/page/picture.ts";
import { formatNumber, numberTicks, type Scale, scaleOf } from "../../../report/scale.ts";
import { costOf, evictions, nodeTime, usualWeights } from "../cost.ts";
import { cheapestOwn } from "./compare.ts";
import { type ArmRuns, type Group, isHolder, meanOf } from "./groups.ts";
import { type Box, placeLabels, type Stroke } from "./labels.ts";
import { armColours, colourOf } from "./palette.ts";

/** As wide as a phone shows without making it smaller. */
const width = 390;
const panelHeight = 330;
const margin = 18;
const top = 124;

/** An arm at what its nodes cost, in thousands of minutes, and what its launches and evictions cost. */
type Point = Readonly<{ arm: string; x: number; y: number }>;
type Frame = Readonly<{ left: number; right: number; top: number; bottom: number }>;

/** What nodes cost against what launches and evictions cost: lower and further left is better. One panel for each group. */
export function drawGroups(groups: readonly Group[], title: string): string {
  const panels = groups.map((group, i) => drawPanel(group, top + i * panelHeight));
  const description = groups.map((group, i) => `${nameOf(group)}: ${panels[i]?.description}`).join(". ");
  return picture(
    {
      ...{ width, height: top + groups.length * panelHeight, title, description },
      rules: `.knh .title{font-size:16px}.knh .label{font-size:11px}${armColours()}`,
    },
    text(margin, 30, title, { class: "title" }),
    text(margin, 48, "In minutes of a node of 8 cores: a launch counts 5, an", { class: "faint" }),
    text(margin, 63, "evicted pod 3. Lower and further left is better.", { class: "faint" }),
    ...legend(),
    ...panels.map(({ svg }) => svg),
  );
}

/** What the pictured choices of instance types are called by who has not read the lab's help. */
const sizes: Readonly<Record<string, string>> = { one: "nodes of one size" };

const nameOf = ({ trace, types, karpenter }: Group): string =>
  `A ${trace}, ${sizes[types] ?? `types ${types}`}, Karpenter ${karpenter}`;

function legend(): readonly string[] {
  const [first, second] = [85, 104];
  return [
    mark("", margin + 6, first - 4, false),
    text(margin + 16, first, "Karpenter alone"),
    mark("", margin + 132, first - 4, true),
    text(margin + 142, first, "with the holder"),
    element("path", { d: `M${margin + 250} ${first - 4}h18`, ...line }),
    text(margin + 273, first, "unbeaten"),
    element("path", { d: `M${margin} ${second - 4}h14`, ...equal }),
    text(margin + 19, second, "costs as much as the best of Karpenter's own settings"),
  ];
}

const line = { fill: "none", stroke: "currentColor", "stroke-width": 1.2, "stroke-dasharray": "2 3" };
const equal = { stroke: "currentColor", "stroke-opacity": 0.4 };

/** Arms that differ in Karpenter's setting alone lie on others, and dear ones far away: they are in the table. */
const isNear = (one: ArmRuns, best: ArmRuns | undefined): boolean => {
  const costs = (some: ArmRuns) => meanOf(some.runs, (run) => costOf(run, usualWeights));
  return !one.arm.includes("-beside-") && (!best || costs(one) < (4 / 3) * costs(best));
};

function drawPanel(group: Group, y: number): Readonly<{ svg: string; description: string }> {
  const best = cheapestOwn(group, usualWeights);
  const points = group.arms.filter((arm) => isNear(arm, best)).map(pointOf);
  const frame: Frame = { left: 52, right: width - 14, top: y + 34, bottom: y + panelHeight - 56 };
  const xTicks = ticksAround(points.map(({ x }) => x));
  const yTicks = numberTicks(Math.max(...points.map((one) => one.y)) * 1.05);
  const x = scaleOf(xTicks[0] ?? 0, xTicks.at(-1) ?? 1, frame.left, frame.right);
  const scaleY = scaleOf(0, yTicks.at(-1) ?? 1, frame.bottom, frame.top);
  const placed = points.map((point) => ({ ...point, cx: x(point.x), cy: scaleY(point.y) }));
  const equalCost = best ? [equalCostOf(pointOf(best), { x, y: scaleY, xTicks, yTicks })] : [];
  const frontier = frontierOf(placed);
  const svg = [
    text(margin, y + 14, nameOf(group), { "font-weight": 600 }),
    drawAxes(xTicks, yTicks, x, scaleY, frame),
    ...equalCost.map((ends) => element("line", { ...ends, ...equal })),
    drawFrontier(frontier),
    ...placed.map(({ arm, cx, cy, ...at }) =>
      mark(arm, cx, cy, isHolder(arm), hint(describe({ arm, ...at }))),
    ),
    ...drawLabels(placed, frame, [...equalCost, ...strokesOf(frontier)]),
  ];
  return { svg: svg.join(""), description: points.map(describe).join(", ") };
}

const pointOf = ({ arm, runs }: ArmRuns): Point => ({
  arm,
  x: meanOf(runs, nodeTime),
  y: meanOf(runs, (run) => usualWeights.launch * run.launched + usualWeights.eviction * evictions(run)),
});

const describe = ({ arm, x, y }: Point): string =>
  `${arm}: nodes ${formatNumber(Math.round(x))}, launches and evictions ${formatNumber(Math.round(y))}`;

/** A disc for Karpenter alone, a diamond with the holder. */
function mark(arm: string, cx: number, cy: number, hasHolder: boolean, ...children: string[]): string {
  const fill = colourOf(arm);
  if (!hasHolder) return element("circle", { cx, cy, r: 5, fill }, ...children);
  const d = `M${short(cx)} ${short(cy - 7)}l7 7l-7 7l-7 -7z`;
  return element("path", { d, fill }, ...children);
}

/** Round numbers from just below the least to at least the largest. */
function ticksAround(values: readonly number[]): readonly number[] {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const [, step = 1] = numberTicks((most - least) * 1.1 || most || 1, 4);
  const first = Math.floor(least / step) * step;
  const count = Math.max(1, Math.ceil((most - first) / step + 0.15));
  return Array.from({ length: count + 1 }, (_, i) => first + i * step);
}

function drawAxes(
  xTicks: readonly number[],
  yTicks: readonly number[],
  x: Scale,
  y: Scale,
  { left, right, top: above, bottom }: Frame,
): string {
  const faint = { class: "faint label" };
  const rows = yTicks.map((tick) => {
    const at = y(tick);
    const label = text(left - 6, at + 4, formatNumber(tick), { ...faint, "text-anchor": "end" });
    return element("line", { x1: left, x2: right, y1: at, y2: at, class: "grid" }) + label;
  });
  const columns = xTicks.map((tick, i) => {
    const at = x(tick);
    // The last one must not leave the picture.
    const anchor = i === xTicks.length - 1 ? "end" : "middle";
    const label = text(at, bottom + 16, formatNumber(tick), { ...faint, "text-anchor": anchor });
    return element("line", { x1: at, x2: at, y1: above, y2: bottom, class: "grid" }) + label;
  });
  const names = [
    text(left - 34, above - 8, "launches and evictions", faint),
    text(right, bottom + 33, "nodes", { ...faint, "text-anchor": "end" }),
  ];
  return [...rows, ...columns, ...names].join("");
}

type Axes = Readonly<{ x: Scale; y: Scale; xTicks: readonly number[]; yTicks: readonly number[] }>;

/** Everything on this line costs as much as the best of Karpenter's own settings; what lies below it costs less. */
function equalCostOf(best: Point, { x, y, xTicks, yTicks }: Axes): Stroke {
  const sum = best.x + best.y;
  const [least, most] = [xTicks[0] ?? 0, xTicks.at(-1) ?? 0];
  const from = Math.max(least, sum - (yTicks.at(-1) ?? 0));
  const to = Math.min(most, sum);
  return { x1: x(from), y1: y(sum - from), x2: x(to), y2: y(sum - to) };
}

type Placed = Point & Readonly<{ cx: number; cy: number }>;

/** The arms that no other arm beats in both. */
function frontierOf(points: readonly Placed[]): readonly Placed[] {
  const isBeaten = (one: Placed) =>
    points.some((other) => other !== one && other.x <= one.x && other.y <= one.y);
  return points.filter((one) => !isBeaten(one)).toSorted((a, b) => a.x - b.x);
}

function drawFrontier(best: readonly Placed[]): string {
  const d = best.map(({ cx, cy }, i) => `${i === 0 ? "M" : "L"}${short(cx)} ${short(cy)}`).join("");
  return element("path", { d, class: "frontier", ...line });
}

const strokesOf = (points: readonly Placed[]): readonly Stroke[] =>
  points
    .slice(1)
    .map(({ cx, cy }, i) => ({ x1: points[i]?.cx ?? cx, y1: points[i]?.cy ?? cy, x2: cx, y2: cy }));

function drawLabels(points: readonly Placed[], frame: Frame, strokes: readonly Stroke[]): readonly string[] {
  const marks = points.map(
    ({ cx, cy }): Box => ({ left: cx - 7, right: cx + 7, top: cy - 7, bottom: cy + 7 }),
  );
  const labels = points.map(({ arm, cx, cy }) => ({ text: shortName(arm), cx, cy }));
  return placeLabels(labels, marks, frame, strokes).map((label, i) =>
    text(label.x, label.y, label.text, { class: "label", style: `fill:${colourOf(points[i]?.arm ?? "")}` }),
  );
}

const shortName = (arm: string): string =>
  arm
    .replace("consolidate-after-", "after ")
    .replace("-hourly", "-1h")
    .replace("-every-", " ")
    .replaceAll("-", " ");
