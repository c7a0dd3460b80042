import { describe, expect, it } from "vitest";
import { endingsOf } from "../../../lambda/core/auto/hold-length.ts";
import { costOf } from "../../../lambda/core/auto/learned.ts";

describe("what waiting costs", () => {
  it.each([
    ["shorter than the wait: its idle time", 4, 4],
    ["as long as the wait: its idle time", 5, 5],
    ["longer than the wait: the wait and a relaunch", 6, 15],
  ])("for a gap %s", (_, gap, cost) => {
    expect(costOf(gap, 5, 10)).toBe(cost);
  });
});

describe("the endings of gaps", () => {
  const seen = (length: number) => ({ nodes: 1, atLeast: length, atMost: length });
  const weightsOf = (gaps: Parameters<typeof endingsOf>[0]) =>
    new Map(endingsOf(gaps).map(({ at, weight }) => [at, weight]));

  it("one that was seen ends a quarter later, and counts by its nodes", () => {
    expect(endingsOf([{ nodes: 2, atLeast: 4, atMost: 4 }])).toEqual([{ at: 5, weight: 2 }]);
  });

  it("one of which bounds are known ends evenly between them, not beyond", () => {
    expect(endingsOf([{ nodes: 3, atLeast: 1, atMost: 4 }])).toEqual(
      [2, 3, 4].map((at) => ({ at, weight: 1 })),
    );
  });

  it("count half as much with every 16 bursts that came after", () => {
    const weights = endingsOf(Array.from({ length: 17 }, () => seen(4))).map(({ weight }) => weight);
    expect([weights[0], weights[16]]).toEqual([0.5, 1]);
  });

  it("one that was not seen counts for those that were longer, not for one as long", () => {
    const [first, second] = [0.5 ** (2 / 16), 0.5 ** (1 / 16)];
    const weights = weightsOf([seen(4), seen(8), { nodes: 1, atLeast: 5 }]);
    expect(weights.get(5)).toBeCloseTo(first);
    expect(weights.get(10)).toBeCloseTo(second + 1);
  });

  it("those that were not seen are distributed shortest first, in whatever order they came", () => {
    const [w0, w1, w2] = [3, 2, 1].map((later) => 0.5 ** (later / 16)) as [number, number, number];
    const weights = weightsOf([seen(4), seen(8), { nodes: 1, atLeast: 7 }, { nodes: 1, atLeast: 3 }]);
    const factor = 1 + 1 / (w0 + w1);
    expect(weights.get(5)).toBeCloseTo(w0 * factor);
    expect(weights.get(10)).toBeCloseTo(w1 * factor + w2);
  });

  it("one longer than all others never ends", () => {
    expect(endingsOf([{ nodes: 2, atLeast: 5 }])).toEqual([{ at: Number.POSITIVE_INFINITY, weight: 2 }]);
  });
});
