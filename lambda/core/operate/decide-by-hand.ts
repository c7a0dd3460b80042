import { after, type Duration, earlier, formatDuration, later } from "../duration.ts";
import { withWish } from "../holds/causes.ts";
import {
  capOf,
  countingFrom,
  extended,
  type Hold,
  isPaused,
  newHold,
  type PastHold,
  type ScopeRecord,
  silenced,
  type Watermark,
  type Wish,
  watermarkOf,
} from "../holds/hold.ts";
import { startInPlace, whyNoneCounts } from "../launches/decide-launch.ts";
import { decideForce } from "../releases/decide-release.ts";
import type { Rules } from "../rules.ts";

/** What an operator's wish to hold means for one scope, and why. */
export type HoldDecision =
  | Readonly<{ action: "refuse"; because: string; record?: never }>
  | Readonly<{ action: "leave"; because: string; record?: never }>
  | Readonly<{
      action: "start" | "extend" | "keep";
      hold: Hold;
      because: string;
      record?: ScopeRecord;
      superseded?: PastHold;
    }>;

/** `at` is when an event happened or a window began: delivered twice, or late, it asks for nothing more. */
export type HoldRequest = Readonly<{ for: Duration; reason: string; cause: Wish; at?: Date | undefined }>;

export type HoldFacts = Readonly<{
  record: ScopeRecord;
  watermark: Watermark;
  wish: HoldRequest;
  rules: Rules;
  now: Date;
  newId: string;
}>;

/** Holds from now on for as long as asked, never past the cap; also during a breather, but not in a pause. */
export function decideHold({ record, watermark, wish, rules, now, newId }: HoldFacts): HoldDecision {
  if (isPaused(watermark, now))
    return { action: "refuse", because: `${whyNoneCounts(watermark, now)}: resume first` };
  const at = earlier(wish.at ?? now, now);
  // Of a hold that was capped, or released by hand, nothing is asked for again.
  const most = wish.at && capOf(rules, at);
  const asked = most ? earlier(after(at, wish.for), most) : after(at, wish.for);
  if (asked <= now) return { action: "leave", because: "the time it asks for is over" };
  if (wish.at && at < watermark.from && watermark.from <= now) {
    return { action: "leave", because: whyNoneCounts(watermark, now) };
  }
  // In a breather the wish counts though launches do not: no watermark known now may end this hold.
  const causedAt = later(now, watermark.from);
  const { hold } = record;
  if (hold?.state !== "held") {
    const cap = capOf(rules, now);
    const expiresAt = cap ? earlier(asked, cap) : asked;
    const begun = {
      startedAt: now,
      startedBecause: wish.reason,
      causes: withWish({}, wish.cause, wish.reason),
    };
    return startInPlace(record, newHold({ id: newId, ...begun, expiresAt, causedAt }), now);
  }
  const { expiresAt } = extended(hold, asked, rules);
  if (expiresAt <= hold.expiresAt) {
    const because =
      asked > expiresAt
        ? `holds last ${formatDuration(rules.maxHold)} at most`
        : "the hold lasts longer already";
    return { action: "keep", hold, because };
  }
  const causes = withWish(hold.causes, wish.cause, wish.reason);
  const next = { ...hold, expiresAt, causedAt, causes, extensions: hold.extensions + 1 };
  return { action: "extend", hold: next, record: { ...record, hold: next }, because: wish.reason };
}

/** Steps aside until then: what is held is released, and launches meanwhile never count. The last wish is the one that counts. */
export function decidePause(
  record: ScopeRecord,
  { until, reason, now }: Readonly<{ until: Date; reason: string; now: Date }>,
) {
  const forced = decideForce(record, { reason: `paused by hand: ${reason}`, now });
  const before = watermarkOf(record);
  const from = before.quiet?.kind === "breather" ? later(until, before.from) : until;
  // One that is asked for again lasts since it began.
  const since = before.quiet && isPaused(before, now) ? before.quiet.since : now;
  return { ...forced, record: silenced(forced.record, from, { kind: "paused", since, because: reason }) };
}

/** Ends a pause or a breather: launches count from now on. */
export function decideResume(record: ScopeRecord, now: Date) {
  const from = record.launchesCountFrom;
  // Without a reason it is no silence, but a release by force whose clock was ahead.
  if (!from || from <= now || !record.quiet)
    return { action: "leave" as const, because: "nothing was paused" };
  const because = record.quiet.kind === "breather" ? "the breather is cut short" : "the pause is over";
  return { action: "resume" as const, record: countingFrom(record, now), because };
}
