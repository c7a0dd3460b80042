import { describe, expect, it } from "vitest";
import { after, minutes } from "../../../lambda/core/duration.ts";
import type { Scope } from "../../../lambda/core/scope.ts";
import { sweep } from "../../../lambda/core/sweep/sweep.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord } from "../../support/builders.ts";
import { toSweep } from "../../support/sweep-world.ts";

const at = (minute: number) => after(noon, minutes(minute));
const [first, second] = [holdId(1), holdId(2)];
const perPool = { scope: "nodepool" } as const;

describe("an overdue hold", () => {
  const due = (scope: Scope = "cluster", id = first) =>
    aRecord({ scope, hold: aHold({ id, expiresAt: at(-1) }) });

  it("ends, is closed once its marks are off, and its lag is measured each time", async () => {
    const { context, record, named, metrics } = toSweep({
      records: [due()],
      taken: { [first]: { released: 3 } },
    });
    await sweep(context);
    expect(named("release all")).toEqual([[first]]);
    expect(record()?.hold).toBeUndefined();
    expect(metrics.all("ReleaseLagMs")).toEqual([minutes(1), minutes(1)]);
  });

  it("hands its nodes over to the running hold beside it before its marks come off", async () => {
    const beside = aRecord({ scope: "nodepool/a", hold: aHold({ id: second }) });
    const { context, calls } = toSweep({ records: [due(), beside], rules: perPool });
    await sweep(context);
    expect(calls.slice(0, 2).map(([call, ...what]) => [call, what.at(0)])).toEqual([
      ["mark", "nodepool/a"],
      ["release all", first],
    ]);
  });

  it.each([
    ["some nodes could not be changed", { taken: { [first]: { failed: 1 } } }],
    ["the pass over the nodes was not finished", { left: true }],
    ["a pass over its nodes was not finished", { taken: { [first]: { left: true } } }],
  ])("is not closed while %s", async (_, facts) => {
    const { context, record } = toSweep({ records: [due()], ...facts });
    await sweep(context);
    expect(record()?.hold).toMatchObject({ state: "releasing" });
  });

  it("is closed whatever becomes of another one's nodes", async () => {
    const { context, record } = toSweep({
      records: [due("nodepool/a"), due("nodepool/b", second)],
      rules: perPool,
      taken: { [first]: { failed: 1 }, [second]: { released: 1 } },
    });
    await sweep(context);
    expect(record("nodepool/a")?.hold).toMatchObject({ state: "releasing" });
    expect(record("nodepool/b")?.hold).toBeUndefined();
  });

  it("has no lag before its time: a release by hand ends it early", async () => {
    const hold = aHold({ state: "releasing" });
    const { context, metrics } = toSweep({ records: [aRecord({ hold })], left: true });
    await sweep(context);
    expect(metrics.all("ReleaseLagMs")).toEqual([0]);
  });

  it("goes on where a launch has extended it since it was read; its one-shot is set", async () => {
    const { context, world, calls } = toSweep({ records: [aRecord({ hold: aHold() })] });
    world.holds.all = async () => ({ records: [due()], unreadable: [], nameless: [] });
    await sweep(context);
    expect(calls).toEqual([["arm", "cluster", first, at(20)], ["release all"]]);
  });

  it("that was closed since it was read needs nothing", async () => {
    const { context, world, calls } = toSweep();
    world.holds.all = async () => ({ records: [due()], unreadable: [], nameless: [] });
    await sweep(context);
    expect(calls).toEqual([["release all"]]);
  });

  it("waits for the next sweep when the time for releases is over", async () => {
    const { context, world, named } = toSweep({
      records: [due("nodepool/a"), due("nodepool/b", second)],
      rules: perPool,
    });
    world.holds.find = async (scope) => {
      world.time = at(36);
      return world.holds.records.get(scope);
    };
    await sweep(context);
    expect(named("release all")).toEqual([[first]]);
  });
});

describe("marks of other holds", () => {
  const running = aRecord({ hold: aHold() });

  it("count as held where their hold runs, and come off where there is none", async () => {
    const others = { [first]: 4, [second]: 2 };
    const released = { released: 2, kept: 3, failed: 4 };
    const { context, named, metrics } = toSweep({ records: [running], others, released });
    await sweep(context);
    expect(metrics.all("NodesHeldNow")).toEqual([4]);
    expect(named("release")).toEqual([[second, first]]);
    expect(metrics.all("OrphansFound")).toEqual([9]);
  });

  it.each([
    ["a hold that goes on", {}, {}, [first]],
    ["no hold that is being released", { state: "releasing" }, {}, []],
    ["no hold of another setting of scope, for which no sweep marks", {}, perPool, []],
  ] as const)("may stay for %s to adopt", async (_, hold, rules, adopters) => {
    const records = [aRecord({ hold: aHold(hold) })];
    const { context, named } = toSweep({ records, rules, others: { [second]: 1 }, left: true });
    await sweep(context);
    expect(named("release")).toEqual([[second, ...adopters]]);
  });

  it("are no orphans when they are gone by then", async () => {
    const { context, metrics } = toSweep({ others: { [second]: 2 } });
    await sweep(context);
    expect(metrics.all("OrphansFound")).toEqual([]);
  });

  it.each([
    ["stay until the hold expires", at(1), []],
    ["come off when it has expired", noon, [[first]]],
  ])("whose record cannot be read %s", async (_, expiresAt, expected) => {
    const { context, world, named } = toSweep({
      records: [aRecord({ hold: aHold({ expiresAt }) })],
      others: { [first]: 1 },
    });
    await world.holds.spoil("cluster");
    await expect(sweep(context)).rejects.toThrow("hold.startedAt must be a time");
    expect(named("release")).toEqual(expected);
  });
});
