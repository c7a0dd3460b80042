import { expect, it } from "vitest";
import { after, hours, minutes } from "../../lambda/core/duration.ts";
import { decideClose } from "../../lambda/core/holds/end-hold.ts";
import { dueAt, joinedHold, type ScopeRecord } from "../../lambda/core/holds/hold.ts";
import { watermarkOf } from "../../lambda/core/holds/watermark.ts";
import { decideLaunch } from "../../lambda/core/launches/decide-launch.ts";
import { decideRelease } from "../../lambda/core/releases/release.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { aRecord, someRules } from "../support/builders.ts";
import fc from "../support/fast-check.ts";

// Decisions alone, one after the other, as an ideal world would carry them out.

const rules = someRules({ maxHold: hours(1) });

/** A launch at that minute, asked to much later and as often. */
const launches = fc.array(
  fc.record({
    minute: fc.nat({ max: 120 }),
    deliveredAfter: fc.array(fc.nat({ max: 45 }), { minLength: 1, maxLength: 3 }),
  }),
  { maxLength: 20 },
);
type Delivery = Readonly<{ launchedAt: Date; at: Date }>;

const inOrder = (all: readonly Readonly<{ minute: number; deliveredAfter: number[] }>[]): Delivery[] =>
  all
    .flatMap(({ minute, deliveredAfter }) => {
      const launchedAt = after(noon, minutes(minute));
      return deliveredAfter.map((late) => ({ launchedAt, at: after(launchedAt, minutes(late)) }));
    })
    .toSorted((a, b) => a.at.getTime() - b.at.getTime());

/** Fences and closes a hold at its very end, as one-shots that are never late would do. */
function expire(record: ScopeRecord, now: Date): ScopeRecord {
  const { hold } = record;
  if (!hold || dueAt(hold, rules) > now) return record;
  const due = dueAt(hold, rules);
  const decision = decideRelease({
    record,
    watermark: watermarkOf(record),
    holdId: hold.id,
    rules,
    now: due,
  });
  return decideClose(decision.record ?? record, hold.id, due).record ?? record;
}

/** Every launch becomes a node at once. */
function report(record: ScopeRecord, { launchedAt, at }: Delivery, newId: string): ScopeRecord {
  const launch = { instance: "i-1", launchedAt, nodePool: "default" };
  const facts = { record, watermark: watermarkOf(record), launches: [launch], rules, now: at, newId };
  const decided = decideLaunch(facts).record ?? record;
  const { hold } = decided;
  return hold && !hold.joined ? { ...decided, hold: joinedHold(hold, rules) } : decided;
}

it("after any order of launches, duplicates and expiries, nothing is held for longer than the last launch asks", () => {
  fc.assert(
    fc.property(launches, (all) => {
      const last = Math.max(0, ...all.map(({ minute }) => minute));
      const end = after(noon, minutes(last) + rules.hold);

      const record = inOrder(all).reduce(
        (now, reported, n) => report(expire(now, reported.at), reported, `hold-${n}`),
        aRecord(),
      );

      expect(record.hold ? dueAt(record.hold, rules).getTime() : 0).toBeLessThanOrEqual(end.getTime());
      expect(expire(record, end).hold).toBeUndefined();
    }),
  );
});

it("expiry only ever moves forward, and never past the cap", () => {
  fc.assert(
    fc.property(launches, (all) => {
      let record: ScopeRecord = aRecord();
      for (const [n, reported] of inOrder(all).entries()) {
        const before = expire(record, reported.at);
        record = report(before, reported, `hold-${n}`);
        if (!record.hold) continue;
        expect(record.hold.expiresAt.getTime()).toBeLessThanOrEqual(
          record.hold.startedAt.getTime() + rules.maxHold,
        );
        if (before.hold?.id !== record.hold.id) continue;
        expect(record.hold.expiresAt.getTime()).toBeGreaterThanOrEqual(before.hold.expiresAt.getTime());
      }
    }),
  );
});

it("the order in which launches of the same time are reported does not matter", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 19 }), { minLength: 1 }), fc.gen(), (offsets, gen) => {
      const at = after(noon, minutes(19));
      const reported = offsets.map((minute) => ({ launchedAt: after(noon, minutes(minute)), at }));
      const shuffled = gen(() => fc.shuffledSubarray(reported, { minLength: reported.length }));
      const expiryOf = (all: readonly Delivery[]) =>
        all.reduce((record, one) => report(record, one, "hold"), aRecord()).hold?.expiresAt;

      expect(expiryOf(shuffled)).toEqual(expiryOf(reported));
    }),
  );
});

it("delivering all events a second time changes nothing in the record", () => {
  fc.assert(
    fc.property(launches, (all) => {
      const story = inOrder(all);
      const record = story.reduce(
        (now, reported, n) => report(expire(now, reported.at), reported, `hold-${n}`),
        aRecord(),
      );
      const now = story.at(-1)?.at ?? noon;

      const again = story.reduce((one, reported) => report(one, { ...reported, at: now }, "again"), record);

      expect(again).toEqual(record);
    }),
  );
});
