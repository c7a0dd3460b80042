import { describe, expect, it } from "vitest";
import { hours } from "../../lambda/core/duration.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { aHeldRecord, aRecord, aRequest } from "../support/builders.ts";
import { at, launchAt, nodesNamed, Passes, planAt } from "./plans.ts";

const second = 1 / 60;

describe("each launch is counted once", () => {
  const counts = ({ record }: Passes) => Object.values(record.figures.launches).reduce((a, b) => a + b, 0);
  const many = (minute: number, count: number) =>
    Array.from({ length: count }, (_, n) => launchAt(minute, { instance: `i-${minute}-${n}` }));

  it("in whatever batches its duplicates come, by events or NodeClaims", () => {
    const passes = new Passes();
    const all = Array.from({ length: 40 }, (_, n) => launchAt(n / 10));
    passes.at(4, all.slice(0, 10));
    passes.at(4, all.slice(5, 30));
    passes.at(5, all);
    expect(passes.at(6, [...all, ...all]).news).toEqual([]);
    expect(counts(passes)).toBe(40);
  });

  it("also where more come at once than a record remembers", () => {
    const passes = new Passes();
    for (const minute of [0, 1, 2]) passes.at(minute, many(0, 700));
    expect(counts(passes)).toBe(700);
    expect(Object.keys(passes.record.seen)).toHaveLength(500);
  });

  it("and the youngest are remembered, in whatever order they came", () => {
    const passes = new Passes();
    passes.at(5, many(5, 400));
    passes.at(6, many(2, 200));
    const kept = Object.keys(passes.record.seen);
    expect([kept.length, kept.filter((name) => name.startsWith("i-5")).length]).toEqual([500, 400]);
  });

  it("and is forgotten after minutes: NodeClaims show it for as long as its node lives", () => {
    const passes = new Passes({ hold: hours(1) });
    passes.at(0, [launchAt(0)]);
    for (const minute of [14, 16, 18, 40]) passes.at(minute, [launchAt(0)]);
    expect(counts(passes)).toBe(1);
    expect(passes.record.seen).toEqual({});
  });

  it("also where three clocks differ: that of the first event's function, of one that forgets, of the duplicate's", () => {
    const passes = new Passes({ hold: hours(1) });
    const event = { instance: "i-0" };
    passes.at(-1, [launchAt(-1, event)]);
    passes.at(16 + second);
    passes.at(14, [launchAt(0, event)]);
    expect(counts(passes)).toBe(1);
  });

  it("by NodePool; beyond ten NodePools the others are counted together", () => {
    const all = many(0, 12).map((one, n) => ({ ...one, nodePool: `pool-${n}` }));
    const { figures } = planAt(0, { launches: all }).record;
    expect(Object.keys(figures.launches)).toHaveLength(11);
    expect(figures.launches).toMatchObject({ "pool-0": 1, others: 2 });
  });
});

describe("the figures of a hold", () => {
  it("are the most nodes that it held, how often its end was moved, and whether the cap cut it", () => {
    const passes = new Passes();
    for (const [minute, names] of [["a", "b"], ["a", "b", "c"], ["a"]].entries())
      passes.at(minute, [launchAt(minute)], { nodes: nodesNamed(names) });
    expect(passes.record.figures).toMatchObject({ nodes: 3, extensions: 2, capped: false });
  });

  it("name ten reasons of requests at most, and a request alone reaches no cap", () => {
    const requests = Array.from({ length: 12 }, (_, n) => aRequest({ name: `${n}`, reason: `reason ${n}` }));
    const { figures } = planAt(0, { record: aRecord({ requests }) }).record;
    expect([figures.requests.length, figures.requests[0], figures.capped]).toEqual([10, "reason 0", false]);
  });

  it("go to history with a hold that was still being released when the next one started", () => {
    const ended = { at: at(20), because: "the hold expired" };
    const record = aHeldRecord({ hold: { id: holdId(1), startedAt: at(0), because: "x", ended } });
    const plan = planAt(25, { record, launches: [launchAt(25)] });
    expect(plan.past).toMatchObject({ id: holdId(1), launches: { default: 1 }, endedAt: at(20) });
    expect(plan.record.figures).toMatchObject({ launches: { default: 1 }, extensions: 0 });
  });
});
