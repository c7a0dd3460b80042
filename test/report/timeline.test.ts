import { describe, expect, it } from "vitest";
import type { TimelineEvent } from "../../report/timeline/events.ts";
import { readTimeline } from "../../report/timeline/timeline.ts";
import * as happened from "./events.ts";

const { at, evicted, gone, holdEnded, holdExtended, holdStarted, joined, marked, released } = happened;

const bounds = { from: at(0), to: at(100) };
const span = (from: number, to: number) => ({
  from: at(from).getTime(),
  to: at(to).getTime(),
  isOpen: false,
});
const openSince = (from: number) => ({ ...span(from, 100), isOpen: true });
const ofNode = (kind: "excluded" | "included" | "handed over" | "user-held" | "let go", seconds: number) =>
  ({ kind: `node ${kind}`, node: "a", at: at(seconds) }) as const;

describe("a node's lane", () => {
  const [joins, mark] = [joined("a", 10), marked("a", "h1", 20)];
  it.each<[rule: string, events: TimelineEvent[], lanes: object[]]>([
    ["lasts from when it joined until it was gone", [joins, gone("a", 40)], [{ node: "a", ...span(10, 40) }]],
    ["does so however its events came", [gone("a", 40), joins], [span(10, 40)]],
    ["reaches the end while the node is there", [joins], [openSince(10)]],
    [
      "is another one when a node of the same name comes back",
      [joins, gone("a", 20), joined("a", 30)],
      [span(10, 20), openSince(30)],
    ],
    [
      "is held from the mark until the release",
      [joins, mark, released("a", "h1", 30)],
      [{ held: [{ ...span(20, 30), holdId: "h1" }] }],
    ],
    [
      "is held without a gap when a newer hold adopts it",
      [joins, mark, marked("a", "h2", 30), released("a", "h2", 50)],
      [{ held: [{ ...span(20, 50), holdId: "h2" }] }],
    ],
    ["is held no longer than it is there", [joins, mark, gone("a", 30)], [{ held: [span(20, 30)] }]],
    [
      "is kept out of holds while its user's label is there",
      [joins, ofNode("excluded", 20), ofNode("included", 30)],
      [{ excluded: [span(20, 30)] }],
    ],
    [
      "is the user's from when it was handed over",
      [joins, mark, ofNode("handed over", 30)],
      [{ held: [span(20, 30)], userHeld: [openSince(30)] }],
    ],
    [
      "is the user's until it is let go",
      [joins, ofNode("user-held", 20), ofNode("let go", 21)],
      [{ userHeld: [span(20, 21)] }],
    ],
  ])("%s", (_, events, lanes) => {
    expect(readTimeline(events, bounds).lanes).toMatchObject(lanes);
  });

  it("is left out when the node was gone before the picture begins", () => {
    const { lanes } = readTimeline([joins, gone("a", 20)], { from: at(50), to: at(100) });
    expect(lanes).toEqual([]);
  });
});

describe("a hold's band", () => {
  it("lasts from its start to its end and knows its extensions", () => {
    const moved = [holdExtended("h1", 20, 90), holdExtended("h1", 30, 80)];
    const { holds } = readTimeline([holdStarted("h1", 5, 65), ...moved, holdEnded("h1", 80)], bounds);
    expect(holds).toMatchObject([{ holdId: "h1", ...span(5, 80), extensions: [at(20).getTime()] }]);
  });

  it("continues to the end of the picture while it has not ended", () => {
    expect(readTimeline([holdStarted("h1", 5, 65)], bounds).holds).toMatchObject([openSince(5)]);
  });
});

it("keeps points within the picture only", () => {
  const events = [evicted("p1", "a", 10), evicted("p2", "a", 60), evicted("p3", "a", 120)];
  const { points } = readTimeline(events, { from: at(50), to: at(100) });
  expect(points.map(({ text }) => text)).toEqual(["p2 evicted from a"]);
});

it("makes a picture of nothing, too", () => {
  expect(readTimeline([])).toMatchObject({ lanes: [], holds: [], points: [] });
});
