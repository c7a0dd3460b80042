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
const lanesOf = (...events: TimelineEvent[]) => readTimeline(events, bounds).lanes;
const ofNode = (kind: "excluded" | "included" | "handed over" | "user-held" | "let go", seconds: number) =>
  ({ kind: `node ${kind}`, node: "a", at: at(seconds) }) as const;

describe("a node's lane", () => {
  it("lasts from when it joined until it was gone, however its events came", () => {
    const lane = [{ node: "a", ...span(10, 40) }];
    expect(lanesOf(joined("a", 10), gone("a", 40))).toMatchObject(lane);
    expect(lanesOf(gone("a", 40), joined("a", 10))).toMatchObject(lane);
  });

  it("reaches the end while the node is there", () => {
    expect(lanesOf(joined("a", 10))).toMatchObject([openSince(10)]);
  });

  it("is another one when a node of the same name comes back", () => {
    const lanes = lanesOf(joined("a", 10), gone("a", 20), joined("a", 30));
    expect(lanes).toMatchObject([span(10, 20), openSince(30)]);
  });

  it("is held from the mark until the release", () => {
    const [lane] = lanesOf(joined("a", 0), marked("a", "h1", 10), released("a", "h1", 30));
    expect(lane?.held).toEqual([{ ...span(10, 30), holdId: "h1" }]);
  });

  it("is held without a gap when a newer hold adopts it", () => {
    const events = [marked("a", "h1", 10), marked("a", "h2", 20), released("a", "h2", 50)];
    expect(lanesOf(joined("a", 0), ...events)[0]?.held).toEqual([{ ...span(10, 50), holdId: "h2" }]);
  });

  it("is kept out of holds while its user's label is there", () => {
    const [lane] = lanesOf(joined("a", 0), ofNode("excluded", 10), ofNode("included", 20));
    expect(lane?.excluded).toMatchObject([span(10, 20)]);
  });

  it("is held no longer than it is there", () => {
    const [lane] = lanesOf(joined("a", 0), marked("a", "h1", 10), gone("a", 30));
    expect(lane?.held).toMatchObject([span(10, 30)]);
  });

  it("is the user's from when it was handed over", () => {
    const [lane] = lanesOf(joined("a", 0), marked("a", "h1", 10), ofNode("handed over", 20));
    expect(lane?.held).toMatchObject([span(10, 20)]);
    expect(lane?.userHeld).toMatchObject([openSince(20)]);
  });

  it("is the user's until it is let go", () => {
    const [lane] = lanesOf(joined("a", 0), ofNode("user-held", 10), ofNode("let go", 11));
    expect(lane?.userHeld).toMatchObject([span(10, 11)]);
  });

  it("is left out when the node was gone before the picture begins", () => {
    const { lanes } = readTimeline([joined("a", 0), gone("a", 20)], { from: at(50), to: at(100) });
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
