import { describe, expect, it } from "vitest";
import { readTimeline } from "../../report/timeline/timeline.ts";
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

const bounds = { from: at(0), to: at(100) };

describe("a node's lane", () => {
  it("lasts from when it joined until it was gone", () => {
    const { lanes } = readTimeline([joined("a", 10), gone("a", 40)], bounds);
    expect(lanes).toMatchObject([{ node: "a", from: at(10).getTime(), to: at(40).getTime(), isOpen: false }]);
  });

  it("reaches the end while the node is there", () => {
    const { lanes } = readTimeline([joined("a", 10)], bounds);
    expect(lanes).toMatchObject([{ to: at(100).getTime(), isOpen: true }]);
  });

  it("is another one when a node of the same name comes back", () => {
    const { lanes } = readTimeline([joined("a", 10), gone("a", 20), joined("a", 30)], bounds);
    expect(lanes.map(({ from }) => from)).toEqual([at(10).getTime(), at(30).getTime()]);
  });

  it("is held from the mark until the release", () => {
    const { lanes } = readTimeline([joined("a", 0), marked("a", "h1", 10), released("a", "h1", 30)], bounds);
    expect(lanes[0]?.held).toEqual([
      { from: at(10).getTime(), to: at(30).getTime(), isOpen: false, holdId: "h1" },
    ]);
  });

  it("is held without a gap when a newer hold adopts it", () => {
    const events = [joined("a", 0), marked("a", "h1", 10), marked("a", "h2", 20), released("a", "h2", 50)];
    expect(readTimeline(events, bounds).lanes[0]?.held).toEqual([
      { from: at(10).getTime(), to: at(50).getTime(), isOpen: false, holdId: "h2" },
    ]);
  });

  it("is kept out of holds while its user's label is there", () => {
    const excluded = { kind: "node excluded", node: "a", at: at(10) } as const;
    const included = { kind: "node included", node: "a", at: at(20) } as const;
    const { lanes } = readTimeline([joined("a", 0), excluded, included], bounds);
    expect(lanes[0]?.excluded).toMatchObject([
      { from: at(10).getTime(), to: at(20).getTime(), isOpen: false },
    ]);
  });

  it("is held no longer than it is there", () => {
    const { lanes } = readTimeline([joined("a", 0), marked("a", "h1", 10), gone("a", 30)], bounds);
    expect(lanes[0]?.held).toMatchObject([{ to: at(30).getTime(), isOpen: false }]);
  });

  it("is the user's from when it was handed over", () => {
    const handedOver = { kind: "node handed over", node: "a", at: at(20) } as const;
    const { lanes } = readTimeline([joined("a", 0), marked("a", "h1", 10), handedOver], bounds);
    expect(lanes[0]?.held).toMatchObject([{ to: at(20).getTime() }]);
    expect(lanes[0]?.userHeld).toMatchObject([{ from: at(20).getTime(), isOpen: true }]);
  });

  it("is the user's until it is let go", () => {
    const userHeld = { kind: "node user-held", node: "a", at: at(10) } as const;
    const letGo = { kind: "node let go", node: "a", at: at(11) } as const;
    const { lanes } = readTimeline([joined("a", 0), userHeld, letGo], bounds);
    expect(lanes[0]?.userHeld).toMatchObject([
      { from: at(10).getTime(), to: at(11).getTime(), isOpen: false },
    ]);
  });

  it("is left out when the node was gone before the picture begins", () => {
    const { lanes } = readTimeline([joined("a", 0), gone("a", 20)], { from: at(50), to: at(100) });
    expect(lanes).toEqual([]);
  });
});

describe("a hold's band", () => {
  it("lasts from its start to its end and knows its extensions", () => {
    const events = [holdStarted("h1", 5, 65), holdExtended("h1", 20, 80), holdEnded("h1", 80)];
    const { holds } = readTimeline(events, bounds);
    expect(holds).toMatchObject([
      { holdId: "h1", from: at(5).getTime(), to: at(80).getTime(), extensions: [at(20).getTime()] },
    ]);
  });

  it("continues to the end of the picture while it has not ended", () => {
    const { holds } = readTimeline([holdStarted("h1", 5, 65)], bounds);
    expect(holds).toMatchObject([{ to: at(100).getTime(), isOpen: true }]);
  });
});

it("reads events in the order of their times, however they came", () => {
  const { lanes } = readTimeline([gone("a", 40), joined("a", 10)], bounds);
  expect(lanes).toMatchObject([{ to: at(40).getTime(), isOpen: false }]);
});

it("keeps points within the picture only", () => {
  const events = [evicted("p1", "a", 10), evicted("p2", "a", 60), evicted("p3", "a", 120)];
  const { points } = readTimeline(events, { from: at(50), to: at(100) });
  expect(points.map(({ text }) => text)).toEqual(["p2 evicted from a"]);
});

it("makes a picture of nothing, too", () => {
  expect(readTimeline([])).toMatchObject({ lanes: [], holds: [], points: [] });
});
