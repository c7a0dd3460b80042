import { describe, expect, it } from "vitest";
import {
  isTrusted,
  type Learned,
  learnFromUse,
  nothingLearned,
  remembered,
  stopWatching,
  type Use,
} from "../../../lambda/core/auto/learned.ts";
import { readLearned, writeLearned } from "../../../lambda/core/auto/learned-text.ts";
import { after, hours, minutes, seconds } from "../../../lambda/core/duration.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import fc from "../../support/fast-check.ts";

const at = (minute: number) => after(noon, minutes(minute));
const terms = { relaunchCost: minutes(10), cap: hours(2) };
const length = minutes(10);

const launch = (minute: number, held = false, nodes = 5): Use => ({
  at: at(minute),
  nodes,
  kind: "launch",
  held,
});
const pods = (minute: number): Use => ({ at: at(minute), nodes: 5, kind: "pods", held: true });
const learnedFromUses = (...uses: readonly Use[]): Learned =>
  uses.reduce((learned, use) => learnFromUse(learned, use, { ...terms, length }), nothingLearned);
const exactly = (minute: number) => ({ nodes: 5, atLeast: minutes(minute), atMost: minutes(minute) });

describe("a gap is learned", () => {
  it("exactly, when a launch ends it after the release", () => {
    expect(learnedFromUses(launch(0), launch(30)).gaps).toEqual([exactly(30)]);
  });

  it("with the nodes that were idle, not with those that came next", () => {
    expect(learnedFromUses(launch(0, false, 5), launch(30, false, 9)).gaps).toEqual([exactly(30)]);
  });

  it("as no longer than this, when a held node was used again", () => {
    expect(learnedFromUses(launch(0), pods(4), pods(12)).gaps).toEqual([
      { nodes: 5, atLeast: 0, atMost: minutes(8) },
    ]);
  });
});

describe("no gap is learned", () => {
  it("between launches of one burst and its end, during which nothing was idle", () => {
    expect(learnedFromUses(launch(0), launch(2, true), pods(6)).gaps).toEqual([]);
    expect(learnedFromUses(launch(0), launch(2, true), pods(6)).idle).toEqual({
      since: at(6),
      nodes: 5,
      length,
    });
  });

  it("within a minute: that is the same burst", () => {
    expect(learnedFromUses(launch(0), launch(0.9)).gaps).toEqual([]);
  });

  it("twice: a duplicate or late use changes nothing", () => {
    const learned = learnedFromUses(launch(0), launch(30), launch(70));
    for (const minute of [70, 50, 30, 0])
      expect(learnFromUse(learned, launch(minute), { ...terms, length })).toEqual(learned);
  });

  it("across a lost launch: the next one seen ends one gap, longer than it was", () => {
    expect(learnedFromUses(launch(0), launch(90)).gaps).toEqual([exactly(90)]);
  });
});

describe("when observation stops", () => {
  it("a gap counts as at least that long, and what comes next ends none", () => {
    const stopped = stopWatching(learnedFromUses(launch(0), launch(30)), at(45), false);
    expect(stopped.gaps).toEqual([exactly(30), { nodes: 5, atLeast: minutes(15) }]);
    expect(learnFromUse(stopped, launch(200), { ...terms, length }).gaps).toEqual(stopped.gaps);
  });

  it("a burst that may still continue teaches nothing", () => {
    expect(stopWatching(learnedFromUses(launch(0)), at(5), true)).toEqual(nothingLearned);
    expect(stopWatching(learnedFromUses(launch(0), pods(4)), at(4.5), true)).toEqual(nothingLearned);
  });

  it("a minute is a gap", () => {
    const stopped = stopWatching(learnedFromUses(launch(0), pods(4)), at(5), true);
    expect(stopped.gaps).toEqual([{ nodes: 5, atLeast: minutes(1) }]);
  });

  it("stopping again changes nothing", () => {
    const stopped = stopWatching(learnedFromUses(launch(0), pods(4)), at(9), true);
    expect(stopped.gaps).toHaveLength(1);
    expect(stopWatching(stopped, at(20), true)).toEqual(stopped);
  });
});

it("the last 48 gaps are remembered", () => {
  const uses = Array.from({ length: 60 }, (_, n) => launch(n * (n + 1)));
  expect(learnedFromUses(...uses).gaps).toEqual(
    Array.from({ length: remembered }, (_, n) => exactly(2 * (n + 60 - remembered))),
  );
});

describe("the debt of the learned lengths", () => {
  const loseBy = (held: number, next: Use, limits = terms) => {
    const idle = { since: noon, nodes: 5, length: minutes(held) };
    return learnFromUse({ ...nothingLearned, idle }, next, limits).debt;
  };

  it("grows by what a length cost beyond a little more than twice the least possible, in relaunches", () => {
    // Held for 60 minutes and then launched again: 70 node-minutes, where 21 were allowed, of 10 each; five nodes.
    expect(loseBy(60, launch(90))).toBeCloseTo((5 * (70 - 21)) / 10, 1);
  });

  it("counts the worse end of a gap that is known within bounds", () => {
    expect(loseBy(60, pods(30))).toBeCloseTo((5 * (30 - 21)) / 10, 1);
  });

  it("allows for a gap longer than the cap what a relaunch costs, because no length covers it", () => {
    const capped = { relaunchCost: minutes(60), cap: minutes(20) };
    expect(loseBy(20, launch(30), capped)).toBe(0);
    expect(loseBy(10, launch(20), capped)).toBeCloseTo((5 * (70 - 42)) / 60, 1);
  });

  it("may reach four relaunches of the largest burst", () => {
    const trusted = (debt: number, ...nodes: number[]) =>
      isTrusted({ gaps: nodes.map((count) => ({ ...exactly(9), nodes: count })), debt });
    expect([trusted(3.99), trusted(4), trusted(19.99, 2, 5), trusted(20, 5, 2)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  it("never falls below zero", () => {
    expect(loseBy(10, launch(90))).toBe(0);
    expect(loseBy(0, launch(90))).toBe(0);
  });
});

describe("the record of what was learned", () => {
  const uses = fc.array(
    fc.record({
      wait: fc.integer({ min: 0, max: 100_000 }),
      nodes: fc.integer({ min: 1, max: 5_000 }),
      kind: fc.constantFrom("launch" as const, "pods" as const, "stop" as const),
      held: fc.boolean(),
    }),
    { maxLength: 100 },
  );
  const learnedFrom = (sequence: typeof uses extends fc.Arbitrary<infer T> ? T : never): Learned => {
    let now = noon;
    return sequence.reduce((learned, { wait, nodes, kind, held }) => {
      now = after(now, seconds(wait));
      return kind === "stop"
        ? stopWatching(learned, now, held)
        : learnFromUse(learned, { at: now, nodes, kind, held }, { ...terms, length });
    }, nothingLearned);
  };

  it("is read as it was written, and stays small", () => {
    fc.assert(
      fc.property(uses, (sequence) => {
        const learned = learnedFrom(sequence);
        const text = writeLearned(learned);
        expect(readLearned(text)).toEqual(learned);
        expect(learned.gaps.length).toBeLessThanOrEqual(remembered);
        expect(text.length).toBeLessThan(1_000);
      }),
    );
  });

  it("still reads records of version 1", () => {
    expect(readLearned("1 debt=0.5 idle=2026-11-22T08:00:00.000Z/6/180/busy 6@240 6@0-180 2@3600+")).toEqual({
      debt: 0.5,
      idle: { since: new Date("2026-11-22T08:00:00Z"), nodes: 6, length: minutes(3), busy: true },
      gaps: [
        { nodes: 6, atLeast: minutes(4), atMost: minutes(4) },
        { nodes: 6, atLeast: 0, atMost: minutes(3) },
        { nodes: 2, atLeast: hours(1) },
      ],
    });
  });

  it("is short", () => {
    const idle = "2026-11-22T08:00:00.000Z/6/180";
    for (const flags of ["", "/busy"]) {
      const text = `1 debt=0.5 idle=${idle}${flags} 6@240 6@0-180 2@3600+`;
      expect(writeLearned(readLearned(text) ?? nothingLearned)).toBe(text);
    }
  });

  it.each(["", "1", "2 debt=0", "1 debt=-1", "1 debt=0 6@", "1 debt=0 6@9-3", "1 debt=0 6@240 idle=x/6/1"])(
    "reads nothing from unknown text: %j",
    (text) => {
      expect(readLearned(text)).toBeUndefined();
    },
  );
});
