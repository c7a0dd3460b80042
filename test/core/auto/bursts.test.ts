import { describe, expect, it } from "vitest";
import {
  type Burst,
  type Bursts,
  costOf,
  costOfLearning,
  idleRemembered,
  idleTime,
  learnFromBurst,
  mostNodes,
  noBursts,
  stopWatchingBursts,
} from "../../../lambda/core/auto/bursts.ts";
import { allowedLoss, decideStaircase, gapEnds, lengthOf } from "../../../lambda/core/auto/staircase.ts";
import { after, formatDuration, hours, minutes, seconds } from "../../../lambda/core/duration.ts";
import { readBursts, writeBursts } from "../../../lambda/schemas/bursts.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import fc from "../../support/fast-check.ts";

const terms = { relaunchCost: minutes(10), cap: hours(2) };
const time = (minute: number) => after(noon, minutes(minute));
const use = (minute: number, nodes: number, more: Partial<Burst> = {}): Burst => ({
  nodes,
  from: time(minute),
  at: time(minute),
  kind: "pods",
  ...more,
});
const learn = (bursts: Bursts, burst: Burst) => learnFromBurst(bursts, burst, terms);
const learned = (...bursts: readonly Burst[]) => bursts.reduce(learn, noBursts);

/** The gaps of each bucket: how many, and within which time they ended. */
const gapsOf = ({ buckets }: Bursts) =>
  buckets.map(({ gaps }) =>
    gaps
      .flatMap((count, at) => {
        const end = gapEnds[at] ?? 0;
        return count > 0
          ? `${+count.toFixed(2)} ${Number.isFinite(end) ? formatDuration(end) : "longer"}`
          : [];
      })
      .join(", "),
  );

describe("what a burst teaches", () => {
  const launch = { kind: "launch" } as const;
  it.each<[string, readonly Burst[], readonly string[]]>([
    [
      "the gap of each level that it needs",
      [use(0, 4), use(5, 1), use(29, 4)],
      ["0.96 5m58s, 1 28m26s", "1 35m32s", "1 35m32s"],
    ],
    ["nothing of levels that it does not need", [use(0, 4), use(5, 2)], ["1 5m58s", "1 5m58s", ""]],
    ["a part of a bucket by its share", [use(0, 4), use(5, 3)], ["1 5m58s", "1 5m58s", "0.5 5m58s"]],
    ["nothing when it is a duplicate", [use(0, 2), use(5, 2), use(5, 2), use(0, 2)], ["1 5m58s", "1 5m58s"]],
    [
      "what is still unknown when it is late",
      [use(0, 2), use(9, 1), use(5, 2), use(14, 1)],
      ["1 5m58s, 0.96 9m19s", "1 5m58s"],
    ],
    ["nothing within a minute: that is the same burst", [use(0, 1), use(0.9, 1)], [""]],
    ["nothing by its first use after a launch", [use(0, 2, launch), use(4, 1), use(9, 2)], ["1 5m58s", ""]],
    ["the end of a gap, not of its own work", [use(0, 1, { at: time(7) }), use(12, 1)], ["1 5m58s"]],
    [
      "an even spread where its beginning was not seen",
      [use(0, 1), use(9, 1, { notBefore: time(0) })],
      ["0.33 3m4s, 0.33 7m28s, 0.33 9m19s"],
    ],
    ["a longer gap where launches were lost", [use(0, 1), use(29, 1)], ["1 35m32s"]],
    ["that a gap was very long", [use(0, 1), use(60 * 24 * 9, 1)], ["1 longer"]],
  ])("%s", (_, bursts, expected) => {
    expect(gapsOf(learned(...bursts))).toEqual(expected);
  });
});

describe("when observation stops", () => {
  it("gaps count as at least that long: like the longer ones, or as if they never ended", () => {
    const stopped = stopWatchingBursts(learned(use(0, 2), use(5, 1), use(29, 1)), time(39));
    expect(gapsOf(stopped)).toEqual(["0.92 5m58s, 1.96 28m26s", "1 longer"]);
    expect(learn(stopped, use(200, 2)).buckets).toEqual(stopped.buckets);
    expect(stopWatchingBursts(stopped, time(300))).toEqual(stopped);
  });

  it("levels that may still be in use teach nothing", () => {
    const stopped = (...bursts: readonly Burst[]) => stopWatchingBursts(learned(...bursts), time(9));
    expect(gapsOf(stopped(use(0, 1, { kind: "launch" })))).toEqual([""]);
    expect(gapsOf(stopped(use(8.5, 1)))).toEqual([""]);
  });
});

it("what the staircase has let go does not come back when the staircase changes", () => {
  // Level 1 is idle for 3 minutes every time, the others return after an hour.
  const small = Array.from({ length: 20 }, (_, n) => use(3 * n, 1));
  const { idle } = learn(learned(use(-120, 4), use(-60, 4), ...small), use(58, 1));
  expect(idle.map(({ nodes, kept }) => [nodes, kept])).toEqual([
    [1, undefined],
    [4, 0],
  ]);
});

describe("the idle time of nodes", () => {
  const known = learned(use(0, 4), use(10, 1));
  it.each([
    ["is all that passed since they were needed", { until: time(15) }, [5 + 3 * 15, 0]],
    ["is that of the nodes there are", { upTo: 2, until: time(15) }, [5 + 15, 0]],
    ["begins with the hold", { from: time(12), until: time(15) }, [4 * 3, 0]],
    ["was worth it where they are needed again", { until: time(15), needed: time(16) }, [5 + 3 * 15, 4]],
    [
      "is none within a minute, which is the same burst",
      { until: time(10.9), needed: time(11) },
      [3 * 10.9, 3],
    ],
    ["is none where they were needed later than that", { until: time(9), needed: time(9) }, [3 * 9, 3]],
  ])("%s", (_, levels, expected) => {
    const { time: idle, returned } = idleTime(known, { upTo: 4, from: time(0), ...levels });
    expect([idle / minutes(1), returned]).toEqual(expected);
  });

  it("counts launched nodes that were never used, but not the time until their first use", () => {
    const launched = learned(use(0, 2, { kind: "launch" }));
    expect(idleTime(launched, { upTo: 2, from: time(0), until: time(3), needed: time(3) }).time).toBe(0);
    expect(idleTime(launched, { upTo: 2, from: time(0), until: time(3) }).time).toBe(minutes(6));
  });
});

describe("the debt of the learned lengths", () => {
  const capped = { relaunchCost: minutes(60), cap: minutes(20) };
  it.each<[string, number, Burst, typeof terms, number]>([
    ["grows by what a length cost beyond 2.1 times the least, in relaunches", 60, use(90, 2), terms, 4.91],
    ["counts the worse end of a gap", 5, use(30, 2, { notBefore: time(6) }), terms, 0.24],
    ["counts no relaunch beyond one for what no length covers", 20, use(30, 2), capped, 0],
    ["never falls below zero", 10, use(90, 2), terms, 0],
  ])("%s", (_, kept, burst, limits, debt) => {
    const idle = [{ nodes: 2, since: noon, kept: minutes(kept) }];
    const { buckets } = learnFromBurst({ ...learned(use(0, 2)), idle }, burst, limits);
    expect(buckets[1]?.debt).toBe(debt);
  });
});

type Wanted = Readonly<{ nodes: number; gap: number }>;

/** What the staircase costs for bursts of any size, level by level; a negative gap ends a second after a level is let go. */
function play(wanted: readonly Wanted[], limits: typeof terms) {
  const { relaunchCost } = limits;
  const since: number[] = [];
  const gone: (number | undefined)[] = [];
  let bursts = noBursts;
  let now = 0;
  let cost = 0;
  let least = 0;
  for (const { nodes, gap } of wanted) {
    const staircase = decideStaircase(bursts, limits);
    const dueAt = (level: number) => Math.max(now, (since[level - 1] ?? now) + lengthOf(staircase, level));
    const next = Math.max(now + minutes(1), gap < 0 ? dueAt(-gap) + seconds(1) : now + minutes(gap));
    for (let level = 1; level <= since.length; level++)
      if (gone[level - 1] === undefined && dueAt(level) < next) gone[level - 1] = dueAt(level);
    for (let level = 1; level <= nodes; level++) {
      const last = since[level - 1];
      if (last !== undefined) {
        const idle = next - last;
        cost += costOf(idle, (gone[level - 1] ?? next) - last, relaunchCost);
        least += idle > limits.cap ? relaunchCost : Math.min(idle, relaunchCost);
      }
      since[level - 1] = next;
      gone[level - 1] = undefined;
    }
    now = next;
    bursts = learnFromBurst(bursts, { nodes, from: new Date(now), at: new Date(now), kind: "pods" }, limits);
  }
  const largest = Math.max(...wanted.map(({ nodes }) => nodes));
  const learning = largest * (allowedLoss * relaunchCost + limits.cap + relaunchCost);
  return { cost, bound: (2 + costOfLearning) * least + learning, bursts };
}

describe("for bursts of any size at any time", () => {
  const someLimits = fc.constantFrom(
    terms,
    { relaunchCost: minutes(10), cap: minutes(2) },
    { relaunchCost: minutes(3), cap: minutes(30) },
  );
  const someBursts = fc.array(
    fc.record({
      nodes: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 30 })),
      gap: fc.oneof(
        fc.integer({ min: -30, max: -1 }),
        fc.integer({ min: 1, max: 15 }),
        fc.integer({ min: 1, max: 600 }),
      ),
    }),
    { minLength: 1, maxLength: 120 },
  );

  it("costs at most 2.1 times the least possible for each level and gap, plus a few relaunches", () => {
    fc.assert(
      fc.property(someBursts, someLimits, (wanted, limits) => {
        const { cost, bound } = play(wanted, limits);
        expect(cost).toBeLessThanOrEqual(bound);
      }),
      { numRuns: 200 },
    );
  });

  it.each([1, 4, 8, 20])("keeps to that when bursts always return just after level %i is let go", (level) => {
    const against = Array.from({ length: 400 }, (_, n) => ({
      nodes: n % 3 === 0 ? 20 : level,
      gap: n % 4 === 3 ? 600 : -level,
    }));
    const { cost, bound } = play(against, terms);
    expect(cost).toBeLessThanOrEqual(bound);
  });

  it("is read from the record as it was written, and stays small", () => {
    fc.assert(
      fc.property(someBursts, (wanted) => {
        const { bursts } = play(wanted, terms);
        expect(readBursts(writeBursts(bursts))).toEqual(bursts);
        expect(writeBursts(bursts).length).toBeLessThan(5_000);
        expect(bursts.idle.length).toBeLessThanOrEqual(idleRemembered);
      }),
    );
  });
});

describe("the record", () => {
  it("stays small for bursts of thousands of nodes", () => {
    const many = Array.from({ length: 600 }, (_, n) => use(7 * n, 2 * mostNodes - 27 * n));
    const bursts = learned(...many);
    expect(bursts).toMatchObject({ largest: mostNodes });
    expect(bursts.idle.length).toBe(idleRemembered);
    expect(writeBursts(bursts).length).toBeLessThan(9_000);
    expect(readBursts(writeBursts(bursts))).toEqual(bursts);
  });

  const good = learned(use(0, 2), use(5, 1));
  it.each<[string, object]>([
    ["of another version", { version: 1 }],
    ["without buckets", { buckets: undefined }],
    ["with too few buckets", { buckets: good.buckets.slice(1) }],
    ["with a negative weight", { buckets: [{ gaps: [-1], debt: 0 }, good.buckets[1]] }],
    ["with levels that do not rise", { idle: good.idle.toReversed() }],
    ["with more levels than were needed", { largest: 1, buckets: good.buckets.slice(1) }],
  ])("%s is not read", (_, change) => {
    expect(readBursts(writeBursts(good))).toEqual(good);
    expect(readBursts(JSON.stringify({ ...JSON.parse(writeBursts(good)), ...change }))).toBeUndefined();
  });

  it("that is no JSON is not read", () => {
    expect(readBursts("1 debt=0")).toBeUndefined();
  });
});
