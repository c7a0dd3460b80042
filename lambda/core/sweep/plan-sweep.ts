import { dueAt, type Hold, type ScopeRecord, watermarkOf } from "../holds/hold.ts";
import type { Rules } from "../rules.ts";
import { type Scope, wholeCluster } from "../scope.ts";

export type RecordWithHold = ScopeRecord & Readonly<{ hold: Hold }>;

/** What a sweep does first, and what next. */
export type SweepPlan = Readonly<{
  /** Holds to end now, the longest overdue first. */
  due: readonly RecordWithHold[];
  /** Holds whose release was begun. */
  releasing: readonly RecordWithHold[];
  /** Holds that go on, beginning where the last sweep stopped. */
  running: readonly RecordWithHold[];
}>;

export function planSweep(
  records: readonly ScopeRecord[],
  { rules, now, next }: Readonly<{ rules: Rules; now: Date; next: Scope | undefined }>,
): SweepPlan {
  const whole = records.find(({ scope }) => scope === wholeCluster);
  const withHold = records.filter((record): record is RecordWithHold => record.hold !== undefined);
  const isDue = (record: RecordWithHold) =>
    dueAt(record.hold, rules) <= now || record.hold.causedAt < watermarkOf(record, whole).from;
  const held = withHold.filter(({ hold }) => hold.state === "held");
  const byName = held.filter((record) => !isDue(record)).toSorted((a, b) => (a.scope < b.scope ? -1 : 1));
  const from = Math.max(
    0,
    byName.findIndex(({ scope }) => next !== undefined && scope >= next),
  );
  return {
    due: held
      .filter(isDue)
      .toSorted((a, b) => dueAt(a.hold, rules).getTime() - dueAt(b.hold, rules).getTime()),
    releasing: withHold.filter(({ hold }) => hold.state === "releasing"),
    running: [...byName.slice(from), ...byName.slice(0, from)],
  };
}
