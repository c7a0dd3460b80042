import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../../lambda/core/duration.ts";
import type { ScopeRecord } from "../../../lambda/core/holds/hold.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import type { Scope } from "../../../lambda/core/scope.ts";
import { planSweep, sweep } from "../../../lambda/core/sweep/sweep.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord, someRules } from "../../support/builders.ts";
import { toSweep } from "../../support/sweep-world.ts";

const at = (minute: number) => after(noon, minutes(minute));
const [a, b] = ["nodepool/a", "nodepool/b"] as const;
const [first, second] = [holdId(1), holdId(2)];
const perPool = { scope: "nodepool" } as const;
const running = (...scopes: Scope[]) =>
  scopes.map((scope, n) => aRecord({ scope, hold: aHold({ id: holdId(n) }) }));

describe("what a sweep finds", () => {
  const pool = (name: string, about: Parameters<typeof aHold>[0] = {}): ScopeRecord =>
    aRecord({ scope: `nodepool/${name}`, hold: aHold(about) });
  const plan = (records: readonly ScopeRecord[], rules: Partial<Rules> = perPool) => {
    const planned = planSweep(records, someRules(rules), at(10));
    const names = (those: readonly ScopeRecord[]) => those.map(({ scope }) => scope.replace("nodepool/", ""));
    return Object.fromEntries(Object.entries(planned).map(([kind, those]) => [kind, names(those)]));
  };

  it("is holds that are over, the longest overdue first, those being released, and running ones", () => {
    const records = [
      pool("running"),
      pool("b", { expiresAt: at(9) }),
      pool("c", { expiresAt: at(10) }),
      pool("a", { expiresAt: at(8) }),
      pool("releasing", { state: "releasing", expiresAt: at(5) }),
      pool("running too"),
      aRecord({ scope: "nodepool/none" }),
    ];
    const running = ["running", "running too"];
    expect(plan(records)).toEqual({ over: ["a", "b", "c"], releasing: ["releasing"], running });
  });

  it("ends holds whose launches a pause of the whole cluster made void", () => {
    const whole = aRecord({ launchesCountFrom: at(1) });
    const found = plan([pool("before"), whole, pool("after", { causedAt: at(1) })]);
    expect(found).toEqual({ over: ["before"], releasing: [], running: ["after"] });
  });

  it("ends holds of another setting of scope", () => {
    const records = [pool("a"), aRecord({ hold: aHold() })];
    expect(plan(records)).toMatchObject({ over: ["cluster"], running: ["a"] });
    expect(plan(records, {})).toMatchObject({ over: ["a"], running: ["cluster"] });
  });
});

describe("the time of a sweep", () => {
  it("is the whole time for each stage, and 30 seconds for the marks of each scope", async () => {
    const { context, deadlines } = toSweep({ records: running(a), rules: perPool });
    await sweep(context);
    const whole = at(60);
    expect(deadlines).toEqual({ releases: whole, recovery: whole, marks: after(noon, seconds(30)) });
    await sweep({ ...context, deadline: after(noon, seconds(10)) });
    expect(deadlines.marks).toEqual(after(noon, seconds(10)));
  });

  it("when it is over, overdue holds and unmarked nodes are left to the next sweep", async () => {
    const due = aRecord({ scope: b, hold: aHold({ id: second, expiresAt: at(-1) }) });
    const { context, calls } = toSweep({ records: [...running(a), due], rules: perPool });
    await sweep({ ...context, deadline: noon });
    expect(calls).toEqual([["release all"]]);
  });
});

describe("a hold that is over", () => {
  const due = aRecord({ hold: aHold({ expiresAt: at(-1) }) });

  it("is ended, and its marks are removed in one pass with those of unfinished releases", async () => {
    const begun = aRecord({ scope: a, hold: aHold({ id: second, state: "releasing" }) });
    const { context, record, named } = toSweep({ records: [due, begun] });
    await sweep(context);
    expect(named("release all")).toEqual([[second, first]]);
    expect([record()?.hold, record(a)?.hold]).toEqual([undefined, undefined]);
  });

  it("goes on where a launch has extended it since it was read; its one-shot is set", async () => {
    const { context, world, calls } = toSweep({ records: [aRecord({ hold: aHold() })] });
    world.holds.all = async () => ({ records: [due], problems: [] });
    await sweep(context);
    expect(calls).toEqual([["arm", "cluster", first, at(20)], ["release all"]]);
  });

  it("that was closed since it was read needs nothing", async () => {
    const { context, world, calls } = toSweep();
    world.holds.all = async () => ({ records: [due], problems: [] });
    await sweep(context);
    expect(calls).toEqual([["release all"]]);
  });

  it("is ended though the decision on another one fails", async () => {
    const broken = aRecord({ scope: a, hold: aHold({ expiresAt: at(-2) }) });
    const other = aRecord({ scope: b, hold: aHold({ id: second, expiresAt: at(-1) }) });
    const { context, world, record } = toSweep({ records: [broken, other], rules: perPool });
    const find = world.holds.find.bind(world.holds);
    world.holds.find = async (scope) => (scope === a ? Promise.reject(new Error("throttled")) : find(scope));
    await expect(sweep(context)).rejects.toThrow("throttled");
    expect(record(b)?.hold).toBeUndefined();
  });
});

it("a record that cannot be read is replaced at once, and its marks are orphaned", async () => {
  const { context, world, record, named } = toSweep({
    records: [aRecord({ hold: aHold() })],
    others: { [first]: 1 },
  });
  await world.holds.spoil("cluster");
  await sweep(context);
  expect(record()).toEqual(aRecord({ version: 3 }));
  expect(named("release")).toEqual([[first]]);
});

describe("a sweep", () => {
  it("marks for a running hold, sets its one-shot, and queues what failed", async () => {
    const { context, calls, queued } = toSweep({
      records: [aRecord({ hold: aHold() })],
      marked: { failed: 1 },
    });
    await sweep(context);
    expect(calls.slice(1)).toEqual([
      ["mark", "cluster", first],
      ["arm", "cluster", first, at(20)],
    ]);
    const followUp = { kind: "pendingNodes", scope: "cluster", awaited: [], attempt: 1 };
    expect(queued).toMatchObject([{ followUp }]);
  });

  it("marks also for a hold that began, or was extended, since the records were read first", async () => {
    const { context, world, named } = toSweep({ records: [aRecord({ hold: aHold() })] });
    const all = world.holds.all.bind(world.holds);
    world.holds.all = async () => {
      world.holds.all = all;
      return { records: [], problems: [] };
    };
    await sweep(context);
    expect(named("mark")).toEqual([["cluster", first]]);
  });

  it("marks nothing for a hold that became due meanwhile", async () => {
    const { context, world, calls } = toSweep({ records: [aRecord({ hold: aHold() })] });
    const joinedSince = async () => {
      world.clock.pass(minutes(20));
      return [];
    };
    await sweep({ ...context, nodes: { ...context.nodes, joinedSince } });
    expect(calls).toEqual([["release all"]]);
  });

  it("leaves a hold that becomes due while another scope is marked to its one-shot or the next sweep", async () => {
    const { context, world, named } = toSweep({ records: running(a, b), rules: perPool });
    const mark: typeof context.nodes.mark = async (...what) => {
      const marked = await context.nodes.mark(...what);
      world.clock.pass(minutes(20));
      return marked;
    };
    await sweep({ ...context, nodes: { ...context.nodes, mark } });
    expect(named("mark").map(([scope]) => scope)).toEqual([a]);
    expect(named("arm").map(([scope]) => scope)).toEqual([a]);
  });

  it("measures how many holds run, for how long, and what the scopes that are kept have learned", async () => {
    const rules = { scope: "nodepool", auto: true, relaunchCost: minutes(7) } as const;
    const hold = (id: string, minutesAgo: number) =>
      aHold({ id, startedAt: at(-minutesAgo), expiresAt: at(20) });
    const records = [
      aRecord({ hold: hold(first, 3) }),
      aRecord({ scope: "nodepool/a", hold: hold(second, 9) }),
      aRecord({ scope: "nodepool/b" }),
    ];
    const { context, metrics } = toSweep({ records, rules });
    await sweep(context);
    expect(metrics.all("HoldActive")).toEqual([2]);
    expect(metrics.all("OldestHoldMs")).toEqual([minutes(9)]);
    expect(metrics.all("LearnedHoldMs")).toEqual([minutes(7), minutes(7)]);
  });

  it("measures zero where nothing is held and nothing is learned", async () => {
    const { context, metrics } = toSweep({ records: [aRecord()] });
    await sweep(context);
    const all = (["HoldActive", "OldestHoldMs", "LearnedHoldMs"] as const).map((name) => metrics.all(name));
    expect(all).toEqual([[0], [0], []]);
  });

  it("reports what it could not read after everything else, and does not count as finished", async () => {
    const { context, world, named } = toSweep({ records: [aRecord({ hold: aHold() })] });
    const { records } = await world.holds.all();
    const problems = [new Error("a record without a name")];
    world.holds.all = async () => ({ records, problems });
    await expect(sweep(context)).rejects.toThrow("a record without a name");
    expect(named("mark")).toHaveLength(1);
    expect(await world.journal.lastSweep()).toBeUndefined();
  });
});
