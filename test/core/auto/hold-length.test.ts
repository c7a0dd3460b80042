import { describe, expect, it } from "vitest";
import { decideHoldLength, describeLength } from "../../../lambda/core/auto/hold-length.ts";
import {
  allowedLoss,
  costOf,
  costOfLearning,
  type Gap,
  type Learned,
  learnFromUse,
  nothingLearned,
} from "../../../lambda/core/auto/learned.ts";
import { after, hours, minutes } from "../../../lambda/core/duration.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import fc from "../../support/fast-check.ts";

const relaunchCost = minutes(10);
const cap = hours(2);

const returned = (minute: number, nodes = 1): Gap => ({
  nodes,
  atLeast: minutes(minute),
  atMost: minutes(minute),
});
const returnedWithin = (minute: number): Gap => ({ nodes: 1, atLeast: 0, atMost: minutes(minute) });
const stillAwayAfter = (minute: number): Gap => ({ nodes: 1, atLeast: minutes(minute) });
const times = (count: number, gap: Gap): readonly Gap[] => Array.from({ length: count }, () => gap);
const knowing = (...gaps: readonly Gap[]): Learned => ({ ...nothingLearned, gaps });
const decide = (learned: Learned, cost = relaunchCost, most = cap) =>
  decideHoldLength(learned, cost, { cap: most });

describe("the length of a hold", () => {
  it("is what a relaunch is worth while nothing is learned", () => {
    expect(decide(nothingLearned)).toEqual({
      length: minutes(10),
      action: "default",
      because: "nothing is learned yet, so a hold lasts as long as one relaunch is worth",
      atHalfCost: minutes(5),
      atDoubleCost: minutes(20),
    });
  });

  it("covers bursts that return soon, with some margin", () => {
    const { length, action, because } = decide(knowing(...times(20, returned(3)), ...times(4, returned(90))));
    expect(length).toBe(minutes(3.75));
    expect({ action, because }).toEqual({
      action: "learned",
      because: "20 of the last 24 bursts returned within 3m45s",
    });
  });

  it("is zero when bursts stay away longer than a relaunch is worth", () => {
    const { length, because } = decide(knowing(returned(3), ...times(11, returned(90))));
    expect(length).toBe(0);
    expect(because).toBe(
      "11 of the last 12 bursts stayed away for 8m or longer, so waiting costs more than it saves",
    );
  });

  it("counts a burst that returned, or was still away, at the very length", () => {
    const within = times(3, returnedWithin(12));
    expect(decide(knowing(...within)).because).toBe("3 of the last 3 bursts returned within 12m");
    const away = [...times(5, returned(90)), stillAwayAfter(8)];
    expect(decide(knowing(...away)).because).toMatch(/^6 of the last 6 bursts stayed away for 8m or longer/);
  });

  it("is described with its reason, and with what it would be if relaunches were worth less or more", () => {
    const length = { ...decide(nothingLearned), because: "nothing is known" };
    expect(describeLength(length)).toBe("10m: nothing is known (5m at half, 20m at double relaunchCost)");
  });

  it("counts as staying away a burst that returned when waiting had cost as much as a relaunch", () => {
    expect(decide(knowing(returned(10))).because).toMatch(/^1 of 1 burst stayed away for 8m or longer/);
  });

  it("is what a relaunch is worth where other lengths cost the same", () => {
    expect(decide(knowing(returned(1)))).toMatchObject({ length: minutes(10), action: "learned" });
  });

  it("is the length closest to that among equally cheap ones", () => {
    // With the margin they end after 5, 12 and 22 minutes; the last costs as much to wait for as to relaunch.
    const gaps = [returned(4, 10), returned(9.6, 9), returned(17.6, 1)];
    expect(decide(knowing(...gaps)).length).toBe(minutes(12));
  });

  it("depends on what a relaunch is worth", () => {
    const { length, atHalfCost, atDoubleCost } = decide(knowing(...times(8, returned(12))));
    expect({ length, atHalfCost, atDoubleCost }).toEqual({
      length: 0,
      atHalfCost: 0,
      atDoubleCost: minutes(20),
    });
  });

  it("follows the work when it changes", () => {
    expect(decide(knowing(...times(24, returned(60)), ...times(24, returned(4)))).length).toBeGreaterThan(
      minutes(4),
    );
    expect(decide(knowing(...times(24, returned(4)), ...times(24, returned(60)))).length).toBe(0);
  });

  it("counts a burst by its nodes", () => {
    expect(decide(knowing(returned(60, 1), returned(4, 20))).length).toBeGreaterThan(minutes(4));
    expect(decide(knowing(returned(60, 20), returned(4, 1))).length).toBe(0);
  });

  it("counts a burst that has not returned like those that were away longer", () => {
    const returns = times(3, returned(6));
    expect(decide(knowing(...returns, ...times(9, stillAwayAfter(1)))).length).toBeGreaterThan(minutes(6));
    expect(decide(knowing(...returns, ...times(9, stillAwayAfter(30)))).length).toBe(0);
  });

  it("never grows because of uses of which only the latest possible time is known", () => {
    let learned = nothingLearned;
    for (let i = 0; i < 48; i++) {
      const { length } = decide(learned);
      expect(length).toBeLessThanOrEqual(relaunchCost);
      learned = knowing(...learned.gaps, returnedWithin(length / minutes(1)));
    }
  });

  it("is never negative and never past the cap", () => {
    fc.assert(
      fc.property(
        someGaps,
        fc.integer({ min: 1, max: 600 }),
        fc.integer({ min: 1, max: 200 }),
        (gaps, most, cost) => {
          const decision = decide({ gaps, debt: 0 }, minutes(cost), minutes(most));
          for (const length of [decision.length, decision.atHalfCost, decision.atDoubleCost]) {
            expect(length).toBeGreaterThanOrEqual(0);
            expect(length).toBeLessThanOrEqual(minutes(most));
          }
        },
      ),
    );
  });
});

const someMinutes = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 1000 })).map(minutes);
const someGaps = fc.array(
  fc
    .record({ nodes: fc.integer({ min: 1, max: 20 }), a: someMinutes, b: fc.option(someMinutes) })
    .map(
      ({ nodes, a, b }): Gap =>
        b === null ? { nodes, atLeast: a } : { nodes, atLeast: Math.min(a, b), atMost: Math.max(a, b) },
    ),
  { maxLength: 48 },
);

describe("whatever the gaps are", () => {
  /** What the decisions cost for these gaps; a negative one comes back a second after the hold. */
  function play(wanted: readonly { nodes: number; gap: number }[], most: number) {
    const terms = { relaunchCost, cap: most };
    let at = noon;
    let { length } = decide(nothingLearned, relaunchCost, most);
    let learned = learnFromUse(
      nothingLearned,
      { at, nodes: wanted[0]?.nodes ?? 1, kind: "pods", held: false },
      { ...terms, length },
    );
    let cost = 0;
    const gaps = wanted.map(({ nodes, gap: minute }, index) => {
      const gap = minute < 0 ? Math.max(minutes(1), length + 1000) : minutes(minute);
      cost += nodes * costOf(gap, length, relaunchCost);
      at = after(at, gap);
      const use = { at, nodes: wanted[index + 1]?.nodes ?? 1, kind: "pods", held: gap <= length } as const;
      learned = learnFromUse(learned, use, terms);
      length = decide(learned, relaunchCost, most).length;
      learned = { ...learned, idle: { since: at, nodes: use.nodes, length } };
      return { nodes, gap };
    });
    return { cost, gaps };
  }

  const bestConstant = (gaps: readonly { nodes: number; gap: number }[], most: number) =>
    Math.min(
      ...[0, ...gaps.map(({ gap }) => gap)]
        .filter((length) => length <= most)
        .map((length) =>
          gaps.reduce((sum, { nodes, gap }) => sum + nodes * costOf(gap, length, relaunchCost), 0),
        ),
    );

  it("costs at most 2.1 times the best length in hindsight, plus a few relaunches", () => {
    const burst = fc.record({
      nodes: fc.integer({ min: 1, max: 10 }),
      gap: fc.oneof(fc.constant(-1), fc.integer({ min: 1, max: 15 }), fc.integer({ min: 1, max: 600 })),
    });
    const someCap = fc.constantFrom(minutes(2), minutes(10), hours(2));
    fc.assert(
      fc.property(fc.array(burst, { minLength: 1, maxLength: 120 }), someCap, (bursts, most) => {
        const { cost, gaps } = play(bursts, most);
        const largest = Math.max(...bursts.map(({ nodes }) => nodes));
        const learning = largest * (allowedLoss * relaunchCost + most + relaunchCost);
        expect(cost).toBeLessThanOrEqual((2 + costOfLearning) * bestConstant(gaps, most) + learning);
      }),
      { numRuns: 200 },
    );
  });

  it("stops using learned lengths for adversarial work, and reports that", () => {
    const against = Array.from({ length: 300 }, (_, i) => ({ nodes: 1, gap: i % 4 === 3 ? 600 : -1 }));
    const { cost, gaps } = play(against, cap);
    expect(cost).toBeLessThanOrEqual(2.1 * bestConstant(gaps, cap) + 4 * relaunchCost + cap + relaunchCost);
    expect(decide({ ...knowing(returned(3)), debt: allowedLoss })).toMatchObject({
      length: relaunchCost,
      action: "cautious",
      because:
        "the learned lengths have recently cost too much, so a hold lasts as long as one relaunch is worth",
    });
  });
});
