import { describe, expect, it } from "vitest";
import { after, hours, minutes, seconds } from "../../../lambda/core/duration.ts";
import type { Scope } from "../../../lambda/core/scope.ts";
import { sweep } from "../../../lambda/core/sweep/sweep.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord } from "../../support/builders.ts";
import { toSweep } from "../../support/sweep-world.ts";

const at = (minute: number) => after(noon, minutes(minute));
const [a, b, c] = ["nodepool/a", "nodepool/b", "nodepool/c"] as const;
const [first, second] = [holdId(1), holdId(2)];
const perPool = { scope: "nodepool" } as const;
const running = (...scopes: Scope[]) =>
  scopes.map((scope, n) => aRecord({ scope, hold: aHold({ id: holdId(n) }) }));

describe("the time of a sweep", () => {
  const records = [aRecord({ hold: aHold() })];

  it("is shared: releases have 60 %, recovery has what is left up to 75 %, each scope's marks 30 seconds", async () => {
    const { context, deadlines } = toSweep({ records });
    await sweep(context);
    expect(deadlines).toEqual({ releases: at(36), recovery: at(45), marks: after(noon, seconds(30)) });
  });

  it("ends for marks with the invocation at the latest", async () => {
    const { context, deadlines } = toSweep({ records });
    await sweep({ ...context, deadline: after(noon, seconds(10)) });
    expect(deadlines.marks).toEqual(after(noon, seconds(10)));
  });

  it("is noted where it was over, and only when that changed since the last sweep", async () => {
    const { context, world, named } = toSweep({ records: running(a, b, c), rules: perPool });
    const noted: unknown[] = [];
    const note = world.journal.noteNextToSweep.bind(world.journal);
    world.journal.noteNextToSweep = (next) => {
      noted.push(next);
      return note(next);
    };
    const joinedSince = async () => {
      world.clock.pass(minutes(1));
      return [];
    };
    const slow = { nodes: { ...context.nodes, joinedSince }, deadline: after(noon, seconds(59)) };
    await sweep({ ...context, ...slow });
    await sweep({ ...context, ...slow });
    expect([named("mark"), noted]).toEqual([[], [a]]);
    await sweep(context);
    expect(named("mark").map(([scope]) => scope)).toEqual([a, b, c]);
    expect(noted).toEqual([a, undefined]);
  });

  it("is noted also where a scope failed", async () => {
    const { context, world } = toSweep({ records: running(a, b), rules: perPool });
    const mark = async () => {
      world.clock.pass(hours(1));
      throw new Error("throttled");
    };
    await expect(sweep({ ...context, nodes: { ...context.nodes, mark } })).rejects.toThrow("throttled");
    expect(await world.journal.nextToSweep()).toBe(b);
  });
});

describe("a sweep", () => {
  it("marks for a running hold, sets its one-shot, and marks again later what failed", async () => {
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
      return { records: [], unreadable: [], nameless: [] };
    };
    await sweep(context);
    expect(named("mark")).toEqual([["cluster", first]]);
  });

  it("marks nothing for a hold of a former scope, whose one-shot it sets", async () => {
    const { context, calls, queued } = toSweep({ records: [aRecord({ hold: aHold() })], rules: perPool });
    await sweep(context);
    expect(calls.slice(1)).toEqual([["arm", "cluster", first, at(20)]]);
    expect(queued).toEqual([]);
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
    const rules = { scope: "nodepool", auto: { relaunchCost: minutes(7) } } as const;
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

  it("measures a length of none where nothing is held and nothing is learned", async () => {
    const { context, metrics } = toSweep({ records: [aRecord()] });
    await sweep(context);
    const all = (["HoldActive", "OldestHoldMs", "LearnedHoldMs"] as const).map((name) => metrics.all(name));
    expect(all).toEqual([[0], [0], []]);
  });

  it("reports what it could not read after everything else, and then is not finished", async () => {
    const { context, world, named } = toSweep({ records: [aRecord({ hold: aHold() })] });
    const { records } = await world.holds.all();
    const nameless = [new Error("a record without a name")];
    world.holds.all = async () => ({ records, unreadable: [], nameless });
    await expect(sweep(context)).rejects.toThrow("a record without a name");
    expect(named("mark")).toHaveLength(1);
    expect(await world.journal.lastSweep()).toBeUndefined();
  });
});
