import { describe, expect, it } from "vitest";
import { timelineTables } from "../../report/page/tables.ts";
import { drawTimeline } from "../../report/timeline/draw-timeline.ts";
import type { TimelineEvent } from "../../report/timeline/events.ts";
import { layOut, shortNames } from "../../report/timeline/layout.ts";
import { readTimeline, type Timeline } from "../../report/timeline/timeline.ts";
import {
  at,
  evicted,
  gone,
  holdEnded,
  holdExtended,
  holdStarted,
  joined,
  marked,
  released,
} from "./events.ts";
import { elementsIn } from "./markup.ts";

const bounds = { from: at(0), to: at(600) };
const names = (count: number) => Array.from({ length: count }, (_, i) => `node-${i + 1}`);
const busy = (count: number): TimelineEvent[] =>
  names(count).flatMap((node, i) => [
    joined(node, i),
    marked(node, "h1", i + 1),
    evicted(`pod-${i}`, node, 100 + i),
    released(node, "h1", 400),
    gone(node, 410 + i / 10),
  ]);
const hold = [holdStarted("h1", 1, 300), holdEnded("h1", 400)];
const draw = (events: readonly TimelineEvent[]) =>
  drawTimeline(readTimeline(events, bounds), { title: "Some nodes" });
const drawnOf = (timeline: Timeline) => elementsIn(drawTimeline(timeline, { title: "Some nodes" }));
const evictionsIn = (drawn: ReturnType<typeof elementsIn>) =>
  drawn.filter(({ is }) => is.class === "point eviction");

describe.each([3, 300])("with %i nodes", (count) => {
  const timeline = readTimeline([...hold, ...busy(count)], bounds);
  const layout = layOut(timeline);

  it("gives every node a lane of its own, one below the other, within the plot and the picture", () => {
    const { plot, width, height } = layout;
    let above = plot.top;
    timeline.lanes.forEach((_, i) => {
      const lane = layout.lane(i);
      expect(lane.top).toBeGreaterThanOrEqual(above);
      above = lane.top + lane.height;
    });
    expect(above).toBeLessThanOrEqual(plot.bottom);
    expect(plot.left).toBeGreaterThan(0);
    expect(plot.right).toBeLessThan(width);
    expect(plot.bottom).toBeLessThan(height);
    // A page and a bit.
    expect(height).toBeLessThan(1_100);
  });

  it("draws nothing outside the picture, and nothing of no size", () => {
    const drawn = drawnOf(timeline).filter(({ name }) => name === "rect");
    expect(drawn.length).toBeGreaterThan(count);
    for (const { is } of drawn) {
      const [x, y, width, height] = [is.x, is.y, is.width, is.height].map(Number);
      expect(Math.min(x ?? -1, y ?? -1)).toBeGreaterThanOrEqual(0);
      expect(Math.min(width ?? 0, height ?? 0)).toBeGreaterThan(0);
      expect((x ?? 0) + (width ?? 0)).toBeLessThanOrEqual(layout.width);
      expect((y ?? 0) + (height ?? 0)).toBeLessThanOrEqual(layout.height);
    }
  });
});

it("names the lanes while there is room for names, and reports their number when there is none", () => {
  const [few, many] = [draw(busy(3)), draw(busy(300))];
  expect(few).toContain(">node-2</text>");
  expect(many).not.toContain(">node-2</text>");
  expect(many).toContain(">300</text>");
});

it.each<[string, whole: string[], shown?: string[]]>([
  [
    "their short names",
    ["ip-10-0-12-34.ec2.internal", "ip-10-0-1-7.ec2.internal"],
    ["ip-10-0-12-34", "ip-10-0-1-7"],
  ],
  ["the name of a single node", ["i-0123456789abcdef0.eu-central-1.compute.internal"], ["i-0123…abcdef0"]],
  ["the start and end of long ones", ["kwok-default-l9pw6-bardy-1", "web"], ["kwok-d…bardy-1", "web"]],
  ["what differs after the first dot", ["a.zone-1.internal", "b.zone-2.internal"], ["a.zone-1", "b.zone-2"]],
  ["whole names that would be equal otherwise", ["node", "node.internal", "b.internal"]],
])("shows of nodes %s", (_, whole, shown = whole) => {
  expect([...shortNames(whole, 14).values()]).toEqual(shown);
});

it("draws nothing of what was over before its time", () => {
  const past = [joined("a", 0), marked("a", "h1", 2), released("a", "h1", 9), evicted("p", "a", 9)];
  const events = [holdStarted("h1", 1, 300), holdExtended("h1", 5, 700), ...past];
  const timeline = readTimeline(events, { ...bounds, from: at(10) });
  const drawn = drawnOf(timeline);
  const { left } = layOut(timeline).plot;
  expect(drawn.filter(({ is }) => Number(is.x1) < left)).toEqual([]);
  expect(drawn.filter(({ is }) => is.width === "1.5")).toEqual([]);
});

it("draws evictions that would lie on each other as one, with their number and all their names", () => {
  const events = [joined("a", 0), ...["p1", "p2", "p3"].map((pod) => evicted(pod, "a", 50))];
  const svg = draw(events);
  expect(evictionsIn(elementsIn(svg))).toHaveLength(1);
  expect(svg).toContain(">3</text>");
  for (const pod of ["p1", "p2", "p3"]) expect(svg).toContain(`${pod} evicted from a`);
});

it("can be read by those who do not see it", () => {
  const timeline = readTimeline([...hold, ...busy(3)], bounds);
  const svg = drawTimeline(timeline, { title: "A hold" });
  const [root] = elementsIn(svg);
  expect(root?.is.role).toBe("img");
  expect(root?.is["aria-label"]).toContain("3 nodes, 1 hold, 3 pods evicted");
  expect(svg).toContain("<desc>");
  const tables = timelineTables(timeline, {});
  expect(elementsIn(tables).filter(({ name }) => name === "caption")).toHaveLength(3);
  for (const node of names(3)) expect(tables).toContain(`>${node}</td>`);
});

describe("of a hold with all that can happen", () => {
  const events: readonly TimelineEvent[] = [
    ...[joined("a", 0), joined("b", 200), { kind: "launch", instance: "i-1", at: at(90) } as const],
    ...[holdStarted("h1", 91, 1_291), marked("a", "h1", 101), holdExtended("h1", 400, 1_600)],
    evicted("p", "b", 300),
    ...[released("a", "h1", 600), { kind: "node handed over", node: "a", at: at(610) } as const],
    ...[gone("a", 700), joined("a", 710), { kind: "node excluded", node: "b", at: at(800) } as const],
    ...[{ kind: "note", text: "a sweep failed", at: at(900) } as const, holdEnded("h1", 1_700)],
  ];
  const timeline = readTimeline(events, { from: at(60), to: at(1_800) });

  it("has the same in words, the newest first", () => {
    const tables = timelineTables(timeline, {});
    const rows = [...tables.matchAll(/<tr><td.+?<\/tr>/g)].map(([row]) =>
      [...row.matchAll(/<td[^>]*>([^<]*)/g)].map(([, cell]) => cell).join("|"),
    );
    expect(rows).toEqual([
      "cluster|00:01:31|00:28:20|26 min 49 s|1|a launch|the hold expired",
      "a|default|00:11:50|going on|18 min 10 s|||",
      "b|default|00:03:20|going on|26 min 40 s|||16 min 40 s",
      "a|default|before|00:11:40|11 min 40 s|8 min 19 s|1 min 30 s|",
      "00:15:00|a sweep failed",
      "00:10:10|a left to its user&#39;s annotation",
      "00:10:00|a released",
      "00:05:00|p evicted from b",
      "00:01:41|a held",
      "00:01:30|launch of i-1",
    ]);
  });

  it("explains what it shows, and nothing else", () => {
    const labelsIn = (svg: string) =>
      [...svg.matchAll(/font-size="11">([a-z ]{4,})</g)].map(([, label]) => label);
    const all = ["node", "held", "held by its user", "never held", "launch", "released", "handed over"];
    const rest = ["pod evicted", "something went wrong"];
    const names = ["holds", "launches"];
    expect(labelsIn(drawTimeline(timeline, { title: "" }))).toEqual([...all, ...rest, ...names]);
    expect(labelsIn(draw([joined("a", 1)]))).toEqual(["node"]);
  });

  it("fits a phone: the legend has several rows, and names are shorter", () => {
    const drawn = elementsIn(drawTimeline(timeline, { title: "", width: 380 }));
    expect(drawn.filter(({ is }) => !is["text-anchor"] && Number(is.x) > 330)).toEqual([]);
    const long = readTimeline([joined("a-node-whose-name-is-far-too-long", 1)], bounds);
    expect(layOut(long, { width: 380 }).plot.left).toBeLessThan(120);
  });

  it("draws each point on the lane of the node of its time, each extension, and who held what", () => {
    const drawn = drawnOf(timeline);
    const points = drawn.flatMap(({ is }) => /^point (.+)/.exec(is.class ?? "")?.[1] ?? []);
    const kinds = ["mark", "release", "handover", "launch", "eviction", "note"];
    expect(points).toEqual(kinds);
    expect(drawn.filter(({ is }) => is["stroke-opacity"] === "0.85")).toHaveLength(1);
    // Each with its example in the legend; a hold is a band and a bar.
    const bars = (fill: string) => drawn.filter(({ name, is }) => name === "rect" && is.fill === fill).length;
    expect(["free", "held", "own"].map((name) => bars(`var(--knh-${name})`))).toEqual([4, 4, 2]);
    expect(drawn.filter(({ is }) => is.stroke === "var(--knh-own)" && is["stroke-dasharray"])).toHaveLength(
      2,
    );
    const release = drawn.findIndex(({ is }) => is.class === "point release");
    const [, y] =
      /M [\d.]+ ([\d.]+)/.exec(drawn.slice(release).find(({ name }) => name === "path")?.is.d ?? "") ?? [];
    const { top, height } = layOut(timeline, { legendRows: 1 }).lane(0);
    expect(Number(y)).toBeGreaterThanOrEqual(top - height);
    expect(Number(y)).toBeLessThan(top + height);
  });
});

it("is markup whatever nodes and pods are called", () => {
  const evil = `<script>alert("1")</script>&'\u0000\ud800`;
  const events = [...hold, joined(evil, 1), marked(evil, "h1", 2), evicted(evil, evil, 3)];
  const timeline = readTimeline(events, bounds);
  for (const markup of [drawTimeline(timeline, { title: evil }), timelineTables(timeline, {})]) {
    expect(elementsIn(markup).some(({ name }) => name === "script")).toBe(false);
    expect(markup.isWellFormed()).toBe(true);
  }
});
