import { describe, expect, it } from "vitest";
import { after, minutes } from "../../../lambda/core/duration.ts";
import { TryAgainError } from "../../../lambda/core/errors.ts";
import { decideEnd, nothingReleased } from "../../../lambda/core/holds/end-hold.ts";
import type { Hold, ScopeRecord } from "../../../lambda/core/holds/hold.ts";
import { untilResumed } from "../../../lambda/core/holds/watermark.ts";
import {
  decideForce,
  decidePause,
  decideResume,
  type ForceRequest,
  forceRelease,
  pause,
  resume,
} from "../../../lambda/core/operate/release-by-hand.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord, aSilence } from "../../support/builders.ts";
import { toSweep } from "../../support/sweep-world.ts";

const at = (minute: number) => after(noon, minutes(minute));
const pool = "nodepool/batch" as const;

describe("the decision on a release by force", () => {
  it("fences what is held and counts launches from now", () => {
    const decision = decideForce(aRecord({ hold: aHold() }), { reason: "maintenance", now: at(5) });

    expect(decision).toMatchObject({
      action: "release",
      record: { launchesCountFrom: at(5), hold: { state: "releasing", endsBecause: "maintenance" } },
    });
  });

  it("without a hold still prevents holds by late events", () => {
    const decision = decideForce(aRecord(), { reason: "maintenance", now: at(5) });

    expect(decision).toMatchObject({
      action: "note",
      because: "nothing is held",
      record: { launchesCountFrom: at(5) },
    });
  });

  it.each(["paused", "breather"] as const)("does not change a pause or breather: %s", (kind) => {
    const record = aRecord({ launchesCountFrom: at(30), quiet: aSilence(kind) });

    expect(decideForce(record, { reason: "maintenance", now: at(5) }).record).toEqual(record);
  });

  it("removes a pause or breather that has ended", () => {
    for (const minute of [1, 5]) {
      const record = aRecord({ launchesCountFrom: at(minute), quiet: aSilence("paused") });

      expect(decideForce(record, { reason: "maintenance", now: at(5) }).record).toEqual(
        aRecord({ launchesCountFrom: at(5) }),
      );
    }
  });

  it("keeps the reason of a release already under way", () => {
    const hold = aHold({ state: "releasing", endsBecause: "the hold expired" });

    expect(decideForce(aRecord({ hold }), { reason: "maintenance", now: at(21) }).record.hold).toEqual(hold);
  });

  it("with a request time ends only holds whose launch or request is earlier", () => {
    const force = (hold: Hold) =>
      decideForce(aRecord({ hold }), { reason: "maintenance", now: at(5), askedAt: at(2) });

    expect(force(aHold()).action).toBe("release");
    expect(force(aHold({ startedAt: at(3), causedAt: at(1) })).action).toBe("release");
    // By hand in a breather: its cause is the breather's end.
    expect(force(aHold({ startedAt: at(1), causedAt: at(10) })).action).toBe("release");
    const later = aHold({ startedAt: at(2), causedAt: at(2) });
    expect(force(later)).toEqual({
      action: "note",
      because: "the hold began after the release was requested",
      record: aRecord({ hold: later, launchesCountFrom: at(2) }),
    });
  });

  it("with a request time moves no watermark back or into the future", () => {
    const watermark = (about: Partial<ScopeRecord>, askedAt: Date) =>
      decideForce(aRecord(about), { reason: "maintenance", now: at(5), askedAt }).record.launchesCountFrom;

    expect(watermark({}, at(2))).toEqual(at(2));
    expect(watermark({ launchesCountFrom: at(3) }, at(2))).toEqual(at(3));
    expect(watermark({ launchesCountFrom: at(1) }, at(9))).toEqual(at(5));
    expect(
      decideForce(aRecord({ hold: aHold() }), { reason: "maintenance", now: at(5), askedAt: at(9) }).action,
    ).toBe("release");
  });

  it("keeps a pause without end", () => {
    const record = aRecord({ launchesCountFrom: untilResumed, quiet: aSilence("paused") });

    expect(decideForce(record, { reason: "maintenance", now: at(5) }).record.launchesCountFrom).toEqual(
      untilResumed,
    );
  });
});

describe("the decision on a pause", () => {
  it("ends what is held and lets no launch count until it is over", () => {
    const paused = decidePause(aRecord({ hold: aHold() }), { until: at(120), reason: "upgrade", now: at(5) });

    expect(paused).toMatchObject({
      action: "release",
      record: {
        launchesCountFrom: at(120),
        quiet: aSilence("paused", at(5)),
        hold: { state: "releasing", endsBecause: "paused by hand: upgrade" },
      },
    });
  });

  it("replaces an earlier one, longer or shorter", () => {
    const record = aRecord({ launchesCountFrom: untilResumed, quiet: aSilence("paused") });

    expect(
      decidePause(record, { until: at(60), reason: "upgrade", now: noon }).record.launchesCountFrom,
    ).toEqual(at(60));
  });

  it("keeps its reason until it ends", () => {
    const { record } = decidePause(aRecord({ hold: aHold({ capped: true }) }), {
      until: at(120),
      reason: "upgrade",
      now: noon,
    });
    const again = decidePause(record, { until: at(60), reason: "another upgrade", now: at(1) }).record;
    const forced = decideForce(record, { reason: "maintenance", now: at(5) }).record;
    const end = { because: "a hold reached its cap", isCut: true, breather: minutes(10) };
    const breather = decideEnd(record, aHold(), end, at(5));

    expect(again.quiet).toEqual({ ...aSilence("paused"), because: "another upgrade" });
    expect(forced.quiet).toEqual(aSilence("paused"));
    expect(breather.quiet).toEqual(aSilence("breather", at(5)));
    for (const over of [
      decideResume(record, at(5)).record,
      decideForce(record, { reason: "later", now: at(121) }).record,
    ])
      expect(over).not.toHaveProperty("quiet");
  });

  it("keeps its start time", () => {
    const { record } = decidePause(aRecord(), { until: untilResumed, reason: "upgrade", now: at(5) });
    const resumed = decideResume(record, at(6)).record;
    const since = (before: ScopeRecord) =>
      decidePause(before, { until: at(60), reason: "again", now: at(10) }).record.quiet?.since;

    expect(record.quiet?.since).toEqual(at(5));
    expect(since(record)).toEqual(at(5));
    expect(since(resumed ?? record)).toEqual(at(10));
    expect(since(aRecord({ launchesCountFrom: at(30), quiet: aSilence("breather") }))).toEqual(at(10));
  });

  it("does not shorten a breather", () => {
    const record = aRecord({ launchesCountFrom: at(10), quiet: aSilence("breather") });

    expect(
      decidePause(record, { until: at(5), reason: "upgrade", now: noon }).record.launchesCountFrom,
    ).toEqual(at(10));
  });
});

describe("the decision on resuming", () => {
  it.each([
    ["paused", "the pause is over"],
    ["breather", "the breather is cut short"],
  ] as const)("counts launches from now on: %s", (kind, because) => {
    const decision = decideResume(aRecord({ launchesCountFrom: at(60), quiet: aSilence(kind) }), at(5));

    expect(decision).toEqual({ action: "resume", because, record: aRecord({ launchesCountFrom: at(5) }) });
  });

  it.each([
    ["never paused", aRecord()],
    ["released by force by a clock that is ahead", aRecord({ launchesCountFrom: at(5.1) })],
    ["paused once", aRecord({ launchesCountFrom: at(1), quiet: aSilence("paused") })],
    ["paused until now", aRecord({ launchesCountFrom: at(5), quiet: aSilence("paused") })],
  ])("changes nothing where nothing is paused: %s", (_, record) => {
    expect(decideResume(record, at(5))).toEqual({ action: "leave", because: "nothing was paused" });
  });
});

/** A world at 12:05, where a pass over the nodes takes the marks of these holds off, and finds these others. */
function toForce(
  records: readonly ScopeRecord[],
  facts: Omit<Parameters<typeof toSweep>[0], "records"> = {},
) {
  const it = toSweep({ records, ...facts });
  it.world.time = at(5);
  const force = (about: Partial<ForceRequest> = {}) => forceRelease(it.context, { reason: "test", ...about });
  return { ...it, force };
}

describe("a release by force", () => {
  const because = "released by hand: test";
  const young = aHold({ startedAt: at(4), causedAt: at(4) });
  const began = "the hold began after the release was requested";

  it("of everything fences all scopes, the whole cluster first, before one pass removes their marks", async () => {
    const records = [aRecord({ scope: pool, hold: aHold({ id: holdId(2) }) }), aRecord({ hold: aHold() })];
    const taken = { [holdId(1)]: { released: 3 }, [holdId(2)]: { released: 1, kept: 1 } };
    const { force, context, world, named, record } = toForce(records, { taken });
    const states: unknown[] = [];
    const { releaseAll } = context.nodes;
    context.nodes.releaseAll = (...what) => {
      states.push(...[...world.holds.records.values()].map(({ hold }) => hold?.state));
      return releaseAll(...what);
    };
    expect(await force()).toEqual({ ...nothingReleased, released: 4, kept: 1, because });
    expect([states, named("release all")]).toEqual([["releasing", "releasing"], [[holdId(1), holdId(2)]]]);
    expect([record()?.hold, record(pool)?.hold]).toEqual([undefined, undefined]);
  });

  it("of everything removes orphaned marks, but not those of a running hold", async () => {
    const records = [aRecord(), aRecord({ scope: pool, hold: young })];
    const { force, named, record } = toForce(records, { others: { [young.id]: 2, [holdId(7)]: 1 } });
    await force({ askedAt: at(3) });
    expect([named("release all"), named("release")]).toEqual([[[]], [[holdId(7)]]]);
    expect(record()).toMatchObject({ launchesCountFrom: at(3) });
  });

  it("of one NodePool touches no other holds and no orphaned marks", async () => {
    const records = [aRecord({ hold: aHold() }), aRecord({ scope: pool, hold: aHold({ id: holdId(2) }) })];
    const { force, calls, record } = toForce(records, { others: { [holdId(7)]: 1 } });
    await force({ scope: pool });
    expect(calls).toEqual([["release", holdId(2)]]);
    expect([record()?.hold?.state, record(pool)?.hold]).toEqual(["held", undefined]);
  });

  it.each([
    ["takes marks of no hold off", [], { released: 1 }, because],
    ["finds marks of no hold that are the user's now", [], { kept: 1 }, because],
    ["cannot change a node", [], { failed: 1 }, because],
    ["finds nothing", [], {}, "nothing is held"],
    ["ends a hold that marked nothing", [aRecord({ hold: aHold() })], {}, because],
    ["spares what began since", [aRecord({ hold: young }), aRecord({ scope: pool })], {}, began],
  ])("that %s answers so", async (_, records, released, expected) => {
    const { force } = toForce(records, { others: { [holdId(7)]: 1 }, released });
    expect(await force({ askedAt: at(3) })).toEqual({ ...nothingReleased, ...released, because: expected });
  });

  it("continues with other scopes where one cannot be written, and fails then", async () => {
    const { force, world, record } = toForce([
      aRecord({ scope: "nodepool/a" }),
      aRecord({ scope: pool, hold: aHold() }),
    ]);
    const find = world.holds.find.bind(world.holds);
    world.holds.find = async (scope) => {
      if (scope === "nodepool/a") throw new Error("throttled");
      return find(scope);
    };
    await expect(force()).rejects.toThrow("throttled");
    expect(record(pool)?.hold).toBeUndefined();
  });

  it("that is retried spares holds that began after its first try", async () => {
    const { force, world, record } = toForce([aRecord()]);
    await force({ id: "request-1" });
    expect(record()?.forced).toEqual({ id: "request-1", at: at(5) });
    const hold = aHold({ startedAt: at(6), causedAt: at(6) });
    await world.holds.put({ ...(record() ?? aRecord()), hold });
    world.time = at(7);
    expect(await force({ id: "request-1" })).toMatchObject({ because: began });
    expect(record()).toMatchObject({ forced: { id: "request-1", at: at(5) }, hold: { state: "held" } });
    expect(await force({ id: "request-2" })).toMatchObject({ because });
    expect(record()?.forced).toEqual({ id: "request-2", at: at(7) });
  });

  it("with a request time ends holds that began before, and without an id records none", async () => {
    const { force, record } = toForce([aRecord({ hold: young })]);
    await force({ askedAt: at(3) });
    expect(record()?.hold?.state).toBe("held");
    expect(record()).not.toHaveProperty("forced");
    await force({ askedAt: at(4.5), id: "x" });
    expect(record()).toMatchObject({ forced: { id: "x", at: at(4.5) } });
    expect(record()?.hold).toBeUndefined();
  });

  it("remembers its id for the NodePool that it names", async () => {
    const { force, record } = toForce([aRecord(), aRecord({ scope: pool })]);
    await force({ id: "x", scope: pool });
    expect(record(pool)?.forced).toEqual({ id: "x", at: at(5) });
    expect(record()?.forced).toBeUndefined();
  });

  it("replaces a record that cannot be read, whose marks are orphaned", async () => {
    const { force, world, named, record } = toForce([aRecord({ hold: aHold() })], {
      others: { [holdId(1)]: 1 },
    });
    await world.holds.spoil("cluster");
    await force();
    expect(named("release")).toEqual([[holdId(1)]]);
    expect(record()).toEqual(aRecord({ version: 3, launchesCountFrom: at(5) }));
  });
});

describe("a pause", () => {
  it("answers until when it lasts, and why", async () => {
    const because = "paused by hand: upgrade";
    const { context, record } = toSweep();
    const asked = (wished: object) => pause(context, { reason: "upgrade", ...wished });
    expect(await asked({ for: minutes(30) })).toMatchObject({ until: at(30), because });
    expect(record()).toMatchObject({ launchesCountFrom: at(30) });
    expect(await asked({})).toMatchObject({ until: undefined, because });
    expect(record()).toMatchObject({ launchesCountFrom: untilResumed });
  });

  it.each([
    [minutes(30), "until 2026-11-21T12:30:00.000Z", new TryAgainError("the cluster is away")],
    [undefined, "until resumed", new AggregateError([1, 2], "the cluster is away")],
  ])("whose nodes cannot be released says that it is recorded: for %s", async (length, until, error) => {
    const { context, record } = toSweep({ records: [aRecord({ hold: aHold() })] });
    context.nodes.releaseAll = () => Promise.reject(error);
    await expect(pause(context, { reason: "upgrade", for: length })).rejects.toMatchObject({
      name: error.name,
      message: `the cluster is away; the pause is recorded ${until}: the next sweep releases its nodes, and \`resume\` ends it`,
    });
    expect(record()?.quiet?.kind).toBe("paused");
  });

  it("that cannot be recorded does not say that it is", async () => {
    const { context, world } = toSweep();
    world.holds.write = () => Promise.reject(new TryAgainError("the table is away"));
    const refused = pause(context, { reason: "upgrade" });
    await expect(refused).rejects.toMatchObject({ message: "the table is away" });
  });
});

describe("resuming", () => {
  const paused = { quiet: aSilence("paused"), launchesCountFrom: untilResumed } as const;
  const rules = { scope: "nodepool" } as const;
  const both = () => toSweep({ rules, records: [aRecord(paused), aRecord({ scope: pool, ...paused })] });

  it.each([undefined, "cluster"] as const)("everything resumes every scope: %s", async (scope) => {
    const answer = await resume(both().context, scope);
    expect(answer).toEqual({ resumed: ["cluster", pool], because: "the pause is over" });
  });

  it("one NodePool resumes that one, and reports that the whole cluster is paused", async () => {
    const { context, record } = both();
    const because = "the whole cluster is still paused: resume it";
    expect(await resume(context, pool)).toEqual({ resumed: [pool], because });
    expect(record()).toMatchObject(paused);
  });

  it("one NodePool of a cluster that is not paused reports what ended", async () => {
    const { context } = toSweep({ rules, records: [aRecord(), aRecord({ scope: pool, ...paused })] });
    expect(await resume(context, pool)).toEqual({ resumed: [pool], because: "the pause is over" });
  });

  it("what was never paused changes nothing", async () => {
    const { context } = toSweep({ records: [aRecord()] });
    expect(await resume(context, undefined)).toEqual({ resumed: [], because: "nothing was paused" });
  });
});
