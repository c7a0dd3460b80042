import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { after, hours, minutes } from "../../lambda/core/duration.ts";
import type { Clock, Holds, Journal, ProbeAnswer } from "../../lambda/core/ports.ts";
import type { ScopeRecord } from "../../lambda/core/record.ts";
import { poolScope, type Scope, wholeCluster } from "../../lambda/core/scope.ts";
import { type ItemTable, Kind } from "../../lambda/record/item-table.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";
import { aHold, aPastHold, aRecord, aRequest } from "../support/builders.ts";
import { fullPast, fullRecord } from "./full-record.ts";

/** An empty store of its own for one test. */
export type OpenHolds = Readonly<{
  table: ItemTable;
  holds: Holds;
  journal: Journal;
  close: () => Promise<void>;
}>;

/** The promises of Holds and Journal; every implementation is held to the same ones. */
export function holdsContract(open: (clock: Clock) => Promise<OpenHolds>): void {
  const clock = new VirtualClock();
  let store: OpenHolds;
  beforeEach(async () => {
    clock.set(noon);
    store = await open(clock);
  });
  afterEach(() => store.close());

  describe("the present", () => {
    it("finds nothing where nothing was written", async () => {
      expect(await store.holds.find(wholeCluster)).toBeUndefined();
      expect((await store.holds.all()).records).toEqual([]);
    });

    it("gives back what was written, to the millisecond, with the next version", async () => {
      expect(await store.holds.write(fullRecord)).toBe(true);
      expect(await store.holds.find(fullRecord.scope)).toEqual({ ...fullRecord, version: 1 });
    });

    it("forgets what the next write leaves out", async () => {
      const { scope } = fullRecord;
      await store.holds.write(fullRecord);
      await store.holds.write(aRecord({ scope, version: 1 }));
      expect(await store.holds.find(scope)).toEqual(aRecord({ scope, version: 2 }));
    });

    it("keeps a record without a hold for a week after its last write, its pause or its requests, one with a hold always", async () => {
      const later = after(noon, hours(2));
      const day = hours(24);
      const quiet = { kind: "paused", since: noon, until: later, because: "on call" } as const;
      const cases: readonly (readonly [Partial<ScopeRecord>, Date | undefined])[] = [
        [{}, after(noon, 7 * day)],
        [{ quiet }, after(later, 7 * day)],
        [{ requests: [aRequest({ until: later })] }, after(later, 7 * day)],
        [{ hold: aHold() }, undefined],
      ];
      for (const [version, [about, end]] of cases.entries()) {
        expect(await store.holds.write(aRecord({ version, ...about }))).toBe(true);
        const { item } = (await store.table.find(Kind.record, wholeCluster)) ?? {};
        expect(item?.forgetAt).toBe(end && end.getTime() / 1_000);
      }
    });

    it.each([
      [0, 3],
      [1, 0],
      [2, 1],
    ])("refuses a write after %i others that read version %i", async (writes, version) => {
      const withHold = (read: number, n: number) =>
        aRecord({ version: read, hold: aHold({ id: holdId(n) }) });
      for (let n = 0; n < writes; n++) expect(await store.holds.write(withHold(n, n))).toBe(true);
      expect(await store.holds.write(withHold(version, 9))).toBe(false);
      const kept = writes > 0 ? withHold(writes, writes - 1) : undefined;
      expect(await store.holds.find(wholeCluster)).toEqual(kept);
    });

    it.each([undefined, "unknown", true, 0, 0.5, -1])(
      "writes a first record over an item without a version of ours, once: %s",
      async (version) => {
        await store.table.put(Kind.record, wholeCluster, { version, hold: "unknown" });
        const found = await store.holds.find(wholeCluster);
        expect(found).toEqual({ ...aRecord(), unreadable: expect.stringContaining("must be") });
        expect(await store.holds.write(found ?? aRecord())).toBe(true);
        expect(await store.holds.find(wholeCluster)).toEqual(aRecord({ version: 1 }));
        expect(await store.holds.write(aRecord())).toBe(false);
      },
    );

    it("writes over a record that cannot be read only as it was read", async () => {
      await store.table.put(Kind.record, wholeCluster, { version: 7, hold: "unknown" });
      const found = (await store.holds.all()).records[0] ?? aRecord();
      expect(found).toMatchObject({ version: 7, unreadable: expect.stringContaining("hold must be") });
      expect(await store.holds.write({ ...found, version: 6 })).toBe(false);
      expect(await store.holds.write(found)).toBe(true);
      expect(await store.holds.find(wholeCluster)).toEqual(aRecord({ version: 8 }));
    });

    it("reports an item under a name that no scope has, beside all records", async () => {
      await store.table.put(Kind.record, "somewhere", { version: 1 });
      await store.holds.write(aRecord());
      const { records, problems } = await store.holds.all();
      expect(records).toEqual([aRecord({ version: 1 })]);
      expect(problems).toMatchObject([{ message: expect.stringContaining("Delete this item.") }]);
    });

    it("lets exactly one of many at once write", async () => {
      const ids = Array.from({ length: 8 }, (_, n) => holdId(n));
      const written = await Promise.all(ids.map((id) => store.holds.write(aRecord({ hold: aHold({ id }) }))));
      expect(written.filter(Boolean)).toHaveLength(1);
      expect((await store.holds.find(wholeCluster))?.hold?.id).toBe(ids[written.indexOf(true)]);
    });

    it("keeps one record a scope and reports them all, sorted by scope, not the past, sweeps and probes", async () => {
      await store.journal.remember(aPastHold());
      await store.journal.noteSweep(noon);
      await store.journal.answerProbe(aProbe());
      const scopes: Scope[] = [wholeCluster, poolScope("batch"), poolScope("web")];
      const holdOf = (scope: Scope) => aHold({ because: scope });
      for (const scope of scopes) await store.holds.write(aRecord({ scope, hold: holdOf(scope) }));
      const { records: all } = await store.holds.all();
      expect(all.map(({ scope, hold }) => [scope, hold])).toEqual(scopes.map((s) => [s, holdOf(s)]));
    });
  });

  describe("the past", () => {
    it("gives back a hold as it ended", async () => {
      await store.journal.remember(fullPast);
      expect(await store.journal.history(10)).toEqual([fullPast]);
    });

    it("keeps each hold once, as it was reported last, also of two that began in the same moment", async () => {
      const past = aPastHold({ id: holdId(1), scope: poolScope("a"), nodes: 5 });
      const other = aPastHold({ id: holdId(2), scope: poolScope("b") });
      for (const one of [{ ...past, nodes: 3 }, past, other]) await store.journal.remember(one);
      const kept = await store.journal.history(10);
      expect(new Set(kept)).toEqual(new Set([past, other]));
    });

    it("reports the newest first, and no more than asked", async () => {
      const pastOf = (hour: number) =>
        aPastHold({ id: holdId(9 - hour), startedAt: after(noon, hours(hour)) });
      for (const hour of [2, 0, 3, 1]) await store.journal.remember(pastOf(hour));
      const newest = await store.journal.history(3);
      expect(newest.map(({ id }) => id)).toEqual([holdId(6), holdId(7), holdId(8)]);
      expect(await store.journal.history(0)).toEqual([]);
    });

    it("names an item that it cannot read, and what to do", async () => {
      await store.table.put(Kind.history, "spoiled", { id: "?", forgetAt: Number.MAX_SAFE_INTEGER });
      await expect(store.journal.history(10)).rejects.toThrow(
        /id must be the id of a hold.*Delete this item\.$/,
      );
    });

    it("forgets a hold 90 days after its end", async () => {
      const endedAt = after(noon, minutes(20));
      await store.journal.remember(aPastHold({ endedAt }));
      clock.set(after(endedAt, hours(24 * 90) - 1_000));
      expect(await store.journal.history(10)).toHaveLength(1);
      clock.set(after(endedAt, hours(24 * 90)));
      expect(await store.journal.history(10)).toEqual([]);
    });
  });

  describe("sweeps and probes", () => {
    it("remembers the last sweep, and beside it the last report", async () => {
      const { journal } = store;
      expect(await journal.lastSweep()).toBeUndefined();
      for (const minute of [0, 5]) await journal.noteSweep(after(noon, minutes(minute)));
      expect(await journal.lastReport()).toBeUndefined();
      const figures = { removed: 1, evicted: 2, uncounted: 0, nodeTime: minutes(3), relaunched: 0 };
      const report = { at: after(noon, hours(1)), observed: { "20261121t120001-000001": figures } };
      await journal.noteReport(report);
      expect(await journal.lastReport()).toEqual(report);
      expect(await journal.lastSweep()).toEqual(after(noon, minutes(5)));
    });

    it("gives back a probe's answer by its id, for a day", async () => {
      await store.journal.answerProbe(aProbe());
      expect(await store.journal.findProbe("another")).toBeUndefined();
      expect(await store.journal.findProbe("probe-1")).toEqual(aProbe());
      clock.pass(hours(25));
      expect(await store.journal.findProbe("probe-1")).toBeUndefined();
    });
  });
}

const times = { sentAt: noon, queuedAt: after(noon, 250), answeredAt: after(noon, 730) };
const aProbe = (): ProbeAnswer => ({ id: "probe-1", version: "1.0.0", ...times });
