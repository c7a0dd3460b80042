import { describe, expect, it } from "vitest";
import { after, minutes } from "../../../lambda/core/duration.ts";
import type { ScopeRecord } from "../../../lambda/core/holds/hold.ts";
import { type ForceRequest, forceRelease } from "../../../lambda/core/releases/force-release.ts";
import { finishRelease, releaseNodes } from "../../../lambda/core/releases/release-nodes.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";

const at = (minute: number) => after(noon, minutes(minute));
const pool = "nodepool/batch" as const;

/** A world at 12:05 in which these marks are on nodes. */
function toForce(records: readonly ScopeRecord[], marks: Readonly<Record<string, number>> = {}, facts = {}) {
  const it = coreWorld({ records, ...facts });
  it.world.time = at(5);
  const nodes = { ...it.context.nodes, marks: async () => new Map(Object.entries(marks)) };
  const context = { ...it.context, nodes };
  const force = (about: Partial<ForceRequest> = {}) => forceRelease(context, { reason: "test", ...about });
  const released = () => it.calls.filter(([call]) => call === "release").map(([, id]) => id);
  return { ...it, context, force, released };
}

describe("a release by force", () => {
  it("of everything takes the marks of no hold off, but not those of a hold that goes on", async () => {
    const young = aHold({ startedAt: at(4), causedAt: at(4) });
    const marks = { [young.id]: 2, [holdId(7)]: 1, [holdId(8)]: 3 };
    const { force, released, record } = toForce([aRecord(), aRecord({ scope: pool, hold: young })], marks);
    await force({ askedAt: at(3) });
    expect(released()).toEqual([holdId(7), holdId(8)]);
    expect(record()).toMatchObject({ launchesCountFrom: at(3) });
  });

  it("of one NodePool leaves the other holds and the marks of no hold alone", async () => {
    const ofPool = aHold({ id: holdId(2) });
    const records = [aRecord({ hold: aHold() }), aRecord({ scope: pool, hold: ofPool })];
    const { force, released, record } = toForce(records, { [holdId(7)]: 1 });
    await force({ scope: pool });
    expect(released()).toEqual([ofPool.id]);
    expect(record()?.hold?.state).toBe("held");
  });

  it("that finds marks of no hold alone answers what became of them", async () => {
    const because = "released by hand: test";
    for (const released of [
      { released: 1 },
      { kept: 1 },
      { failed: 1 },
      { released: 1, kept: 1 },
      { released: 1, kept: 1, failed: 2 },
    ])
      expect(await toForce([], { [holdId(7)]: 1 }, { released }).force()).toMatchObject({
        ...released,
        because,
      });
    expect(await toForce([], { [holdId(7)]: 1 }).force()).toMatchObject({ because: "nothing is held" });
  });

  it("that ends nothing answers why, also where other scopes hold nothing", async () => {
    const young = aHold({ startedAt: at(4), causedAt: at(4) });
    const { force } = toForce([aRecord({ hold: young }), aRecord({ scope: pool })]);
    const because = "the hold began after its release was asked for";
    expect(await force({ askedAt: at(3) })).toMatchObject({ because });
  });

  it("goes on with other scopes, and fails, where one cannot be written", async () => {
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

  it("that is tried again spares what began since its first try", async () => {
    const { force, world, record, released } = toForce([aRecord()]);
    await force({ id: "request-1" });
    expect(record()?.forced).toEqual({ id: "request-1", at: at(5) });
    const present = record() ?? aRecord();
    const hold = aHold({ startedAt: at(6), causedAt: at(6) });
    await world.holds.replace({ ...present, hold });
    world.time = at(7);
    const because = "the hold began after its release was asked for";
    expect(await force({ id: "request-1" })).toMatchObject({ because });
    expect([released(), record()?.forced]).toEqual([[], { id: "request-1", at: at(5) }]);
    expect(await force({ id: "request-2" })).toMatchObject({ because: "released by hand: test" });
    expect(record()?.forced).toEqual({ id: "request-2", at: at(7) });
  });

  it("that names when it was asked for ends what began before, and remembers no id it has not", async () => {
    const { force, record } = toForce([aRecord({ hold: aHold({ startedAt: at(4), causedAt: at(4) }) })]);
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

  it("writes a record anew that cannot be read, and takes the marks of its hold off", async () => {
    const { force, world, released, record } = toForce([
      aRecord({ hold: aHold() }),
      aRecord({ scope: pool, hold: aHold({ id: holdId(2) }) }),
    ]);
    await world.holds.spoil("cluster");
    await world.holds.spoil(pool);
    await force();
    expect(released()).toEqual([holdId(1), holdId(2)]);
    expect([world.holds.unreadable.size, record()?.hold, record(pool)?.hold]).toEqual([
      0,
      undefined,
      undefined,
    ]);
  });

  it("writes over a record that cannot be read as it was read, or, where that is not known, over any", async () => {
    const written = async (version: number | string, meanwhile?: Partial<ScopeRecord>) => {
      const { force, world, record } = toForce([]);
      await world.table.put("record", "cluster", { version, hold: "unknown" });
      const { write } = world.holds;
      world.holds.write = async (what) => {
        world.holds.write = write;
        if (meanwhile) await world.holds.replace(aRecord(meanwhile));
        return write.call(world.holds, what);
      };
      await force();
      return [record()?.version, record()?.lastLaunchAt];
    };
    expect(await written("unknown")).toEqual([1, undefined]);
    expect(await written(7)).toEqual([8, undefined]);
    // Another function has repaired it meanwhile: its record is decided on.
    expect(await written(7, { version: 7, lastLaunchAt: noon })).toEqual([9, noon]);
  });

  it("writes a record anew also where its hold is not known", async () => {
    const { force, world, released } = toForce([aRecord()]);
    await world.holds.spoil("cluster");
    await force();
    expect([world.holds.unreadable.size, released()]).toEqual([0, []]);
  });
});

describe("a release", () => {
  const due = aRecord({ hold: aHold({ expiresAt: at(4) }) });

  it("closes the hold, keeps it in history, and measures how late it was", async () => {
    const { context, world, record, metrics, calls } = toForce([due]);
    await releaseNodes(context, "cluster", holdId(1));
    expect(record()?.hold).toBeUndefined();
    expect([...world.journal.past.values()]).toMatchObject([{ id: holdId(1), endedAt: at(5) }]);
    expect(metrics.all("ReleaseLagMs")).toEqual([minutes(1)]);
    expect(calls).toEqual([["release", holdId(1)]]);
  });

  it("by hand before its time was not late", async () => {
    const { context, metrics } = toForce([aRecord({ hold: aHold({ state: "releasing" }) })]);
    await finishRelease(context, "cluster", aHold());
    expect(metrics.all("ReleaseLagMs")).toEqual([0]);
  });

  it.each([{ failed: 1 }, { left: true }])(
    "goes on within a minute, on the whole minute: %j",
    async (released) => {
      const { context, world, record, calls, metrics } = toForce([due], {}, { released });
      for (const [second, minute] of [
        [29, 6],
        [30, 6],
        [31, 7],
      ] as const) {
        world.time = after(at(5), second * 1_000);
        await releaseNodes(context, "cluster", holdId(1));
        expect(calls.at(-1)).toEqual(["arm", "cluster", holdId(1), at(minute)]);
      }
      expect(record()?.hold?.state).toBe("releasing");
      expect(metrics.all("ReleaseLagMs")).toEqual([]);
    },
  );

  it("of a hold that another invocation has closed measures nothing", async () => {
    const { context, metrics } = toForce([aRecord()]);
    await finishRelease(context, "cluster", aHold({ state: "releasing" }));
    expect(metrics.values).toEqual([]);
  });

  it("hands nodes over to the running holds beside it before their marks come off", async () => {
    const other = aRecord({ scope: pool, hold: aHold({ id: holdId(2) }) });
    const { context, calls } = toForce([due, other]);
    await releaseNodes(context, "cluster", holdId(1));
    expect(calls.map(([call, , id]) => [call, id])).toEqual([
      ["mark", holdId(2)],
      ["release", undefined],
    ]);
  });

  it("sets the one-shot of a hold that was extended, and releases nothing", async () => {
    const { context, calls } = toForce([aRecord({ hold: aHold() })]);
    const answer = await releaseNodes(context, "cluster", holdId(1));
    expect(answer).toEqual({
      released: 0,
      kept: 0,
      failed: 0,
      left: false,
      because: "the hold was extended",
    });
    expect(calls).toEqual([["arm", "cluster", holdId(1), at(20)]]);
  });
});
