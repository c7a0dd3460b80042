import { describe, expect, it } from "vitest";
import {
  allowedLoss,
  type Bucket,
  decideStaircase,
  describeStaircase,
  gapEnds,
  lengthOf,
} from "../../../lambda/core/auto/staircase.ts";
import { formatDuration, hours, minutes } from "../../../lambda/core/duration.ts";
import fc from "../../support/fast-check.ts";

const relaunchCost = minutes(10);
const cap = hours(2);

/** So many gaps of so many minutes. */
const bucket = (counts: Readonly<Record<number, number>> = {}, debt = 0): Bucket => {
  const gaps = gapEnds.map(() => 0);
  for (const [minute, count] of Object.entries(counts))
    gaps[gapEnds.findIndex((end) => minutes(Number(minute)) <= end)] = count;
  return { gaps, debt };
};
const decide = (buckets: readonly Bucket[], cost = relaunchCost, most = cap) =>
  decideStaircase({ largest: 2 ** (buckets.length - 1), buckets }, { relaunchCost: cost, cap: most });

const soon = { 3: 20, 90: 4 };
const late = { 3: 1, 90: 11 };

describe("the staircase", () => {
  it.each([
    ["waits for what a relaunch is worth while nothing is learned", [], "1: 10m default"],
    ["covers gaps that end soon, a little longer than they were", [bucket(soon)], "1: 3m4s learned"],
    ["waits for nothing where gaps are longer than a relaunch is worth", [bucket(late)], "1: 0s learned"],
    [
      "keeps few nodes for long and many for a short time",
      [bucket({ 9: 20, 90: 1 }), bucket(soon), bucket(late)],
      "1: 9m19s learned, 2: 3m4s learned, 4: 0s learned",
    ],
    [
      "never keeps larger levels for longer: both choose together",
      [bucket({ 90: 2 }), bucket(soon), bucket(late)],
      "2: 3m4s learned, 4: 0s learned",
    ],
    ["takes a level without gaps for its neighbour", [bucket(), bucket(soon), bucket()], "4: 3m4s learned"],
    [
      "waits beyond what a relaunch is worth where that ends most gaps",
      [bucket({ 6: 20, 14: 5 })],
      "1: 14m34s learned",
    ],
    ["chooses what a relaunch is worth among equally cheap lengths", [bucket({ 1: 5 })], "1: 10m learned"],
    [
      "does not use what has cost too much, nor lets smaller levels go earlier",
      [bucket(late), bucket(late, 4), bucket(late)],
      "2: 10m cautious, 4: 0s learned",
    ],
    [
      "keeps no level for longer than a smaller one that has cost too much",
      [bucket({ 6: 20, 14: 5 }, 4), bucket({ 6: 20, 14: 5 })],
      "2: 10m cautious",
    ],
    [
      "allows as much for each level of a bucket",
      [bucket(soon), bucket(soon), bucket(soon, 7.99)],
      "4: 3m4s learned",
    ],
    [
      "never passes the cap",
      [bucket({ 12: 20 }, 4), bucket()],
      "1: 5m cautious, 2: 0s learned",
      minutes(20),
      minutes(5),
    ],
  ] as const)("%s", (_, buckets, expected, cost: number = relaunchCost, most: number = cap) => {
    const steps = decide(buckets, cost, most);
    expect(
      steps.map(({ upTo, length, action }) => `${upTo}: ${formatDuration(length)} ${action}`).join(", "),
    ).toBe(expected);
  });

  it("is described by how long holds last after bursts of each size, with its reasons", () => {
    expect(describeStaircase(decide([bucket({ 9: 20, 90: 1 }), bucket(soon), bucket(late)]))).toEqual([
      "after a burst of 1 to 2 nodes 9m19s: 95 % of the pauses were shorter",
      "after a burst of 3 to 4 nodes 3m4s: 83 % of the pauses were shorter",
      "after a burst of 5 or more nodes 0s: 92 % of the pauses were longer than 10m, so waiting costs more than it saves",
    ]);
    expect(describeStaircase(decide([]))).toEqual([
      "after a burst of any size 10m: nothing is learned yet, so for as long as one relaunch is worth",
    ]);
    expect(decide([bucket(soon, allowedLoss)])[0].because).toMatch(/has recently cost too much/);
  });

  it("only falls, from at most the cap to no less than zero, whatever was learned", () => {
    const weights = fc.array(fc.double({ min: 0, max: 20, noNaN: true }), { maxLength: gapEnds.length });
    const some = fc.array(fc.record({ gaps: weights, debt: fc.integer({ min: 0, max: 99 }) }), {
      maxLength: 14,
    });
    const limits = fc.record({
      cost: fc.integer({ min: 1, max: 200 }).map(minutes),
      most: fc.integer({ min: 1, max: 600 }).map(minutes),
    });
    fc.assert(
      fc.property(some, limits, (buckets, { cost, most }) => {
        const staircase = decide(buckets, cost, most);
        const lengths = Array.from({ length: 15 }, (_, n) => lengthOf(staircase, 2 ** n));
        expect(lengths).toEqual(lengths.toSorted((a, b) => b - a));
        expect(Math.max(...lengths)).toBeLessThanOrEqual(most);
        expect(Math.min(...lengths)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it("costs no more over what was counted than to wait for what a relaunch is worth, and little more than the best", () => {
    const candidates = [relaunchCost, 0, ...gapEnds]
      .filter((length) => length <= cap)
      .toSorted((a, b) => b - a);
    const costOf = ({ gaps }: Bucket, length: number) =>
      gaps.reduce((sum, weight, at) => {
        const gap = gapEnds[at] ?? 0;
        return sum + weight * (gap <= length ? gap : length + relaunchCost);
      }, 0);
    const sum = (costs: readonly number[]) => costs.reduce((a, b) => a + b, 0);
    /** Of all lengths that only fall, written a second time: the least cost of the buckets so far, by the length of the last. */
    const leastCost = (buckets: readonly Bucket[]) => {
      let least = candidates.map(() => 0);
      for (const one of buckets) {
        let soFar = Number.POSITIVE_INFINITY;
        least = candidates.map((length, at) => {
          soFar = Math.min(soFar, least[at] ?? soFar);
          return soFar + costOf(one, length);
        });
      }
      return Math.min(...least);
    };
    const counts = fc.array(fc.integer({ min: 0, max: 9 }), {
      minLength: gapEnds.length,
      maxLength: gapEnds.length,
    });
    const some = fc.array(
      counts.filter((gaps) => sum(gaps) > 0).map((gaps) => ({ gaps, debt: 0 })),
      { minLength: 1, maxLength: 8 },
    );
    fc.assert(
      fc.property(some, (buckets) => {
        const staircase = decide(buckets);
        const chosen = sum(buckets.map((one, at) => costOf(one, lengthOf(staircase, 2 ** at))));
        const waited = sum(buckets.map((one) => costOf(one, relaunchCost)));
        expect(chosen).toBeLessThanOrEqual(waited * 1.001);
        expect(chosen).toBeLessThanOrEqual(leastCost(buckets) * 1.2);
      }),
    );
  });
});
