import { after, type Duration, minutes, seconds } from "../duration.ts";
import type { ReleaseContext, Released } from "../ports.ts";
import { isKept, type Rules } from "../rules.ts";
import type { Scope } from "../scope.ts";
import {
  dueAt,
  type Hold,
  isUnjoined,
  type PastHold,
  pastOf,
  type ScopeRecord,
  withoutHold,
} from "./hold.ts";
import { settled, unwatched } from "./learning.ts";
import { armRelease } from "./mark-nodes.ts";
import { changeRecord } from "./records.ts";
import { silenced, type Watermark } from "./watermark.ts";

/** Why a hold ends, and what follows. */
export type End = Readonly<{
  because: string;
  /** It ends before its expiry, so nothing is learned from what comes next. */
  isCut: boolean;
  /** For this long launches start no other hold. */
  breather?: Duration;
}>;

type EndFacts = Readonly<{
  record: ScopeRecord;
  watermark: Watermark;
  /** The id of a hold none of whose nodes was found. */
  withoutNode?: string | undefined;
  rules: Rules;
  now: Date;
}>;

/** Why the hold of a record is over by now; undefined while it goes on. */
export function whyOver({ record, watermark, withoutNode, rules, now }: EndFacts): End | undefined {
  const { hold, scope } = record;
  if (hold?.state !== "held") return undefined;
  if (!isKept(rules, scope)) return { because: "the setting scope has changed", isCut: true };
  // Its launch was handled while an operator paused or released the whole cluster.
  if (hold.causedAt < watermark.from) return { because: "its launches no longer count", isCut: true };
  const due = dueAt(hold, rules);
  if (now < due) return undefined;
  const { breather } = rules;
  // Also when the cap was lowered during the hold: without a breather, steady launches would start the next hold at once.
  if (hold.capped || due < hold.expiresAt)
    return { because: "the hold has reached its cap", isCut: true, breather };
  // Without a breather, anyone who may set Karpenter's tags on instances could start one hold after the other.
  if (isUnjoined(hold) && hold.id === withoutNode)
    return { because: "none of its nodes has joined", isCut: true, breather };
  return { because: "the hold expired", isCut: false };
}

/** Ends the hold in its record: from then on nothing extends it, and its marks are removed. */
export function decideEnd(
  record: ScopeRecord,
  hold: Hold,
  end: End,
  now: Date,
): ScopeRecord & { hold: Hold } {
  const over: Hold = { ...settled(hold, record, now), state: "releasing", endsBecause: end.because };
  const written = { ...(end.isCut ? unwatched(record, now) : record), hold: over };
  if (end.breather === undefined) return written;
  const breather = { kind: "breather", since: now, because: end.because } as const;
  return { ...silenced(written, after(now, end.breather), breather), hold: over };
}

type HoldOfScope = Readonly<{ scope: Scope; hold: Hold }>;

/** Removes the marks of a hold that has ended, and closes it; while marks are left, the release continues in a minute. */
export async function endHold(context: ReleaseContext, { scope, hold }: HoldOfScope): Promise<Released> {
  return closeHold(context, { scope, hold }, await context.nodes.release(hold.id, context));
}

/** Closes a hold whose marks are removed; while marks are left, the release continues in a minute. */
export async function closeHold(
  context: ReleaseContext,
  { scope, hold }: HoldOfScope,
  released: Released,
): Promise<Released> {
  context.log.info("nodes released", { scope, holdId: hold.id, ...released });
  if (released.left || released.failed > 0) {
    await armRelease(context, { scope, hold, at: aMinuteFrom(context.clock.now()) });
    return released;
  }
  const now = context.clock.now();
  const { past } = await changeRecord(context, scope, (record) => decideClose(record, hold.id, now));
  if (past) {
    context.log.info("hold closed", { ...past, holdId: past.id });
    context.metrics.add("ReleaseLagMs", Math.max(0, now.getTime() - past.expiresAt.getTime()));
    context.metrics.add("IdleNodeMinutes", (past.idleTime ?? 0) / minutes(1));
    context.metrics.add("RelaunchesSpared", past.spared ?? 0);
  }
  return released;
}

/** About a minute later, on the whole minute, so that concurrent invocations create the same one-shot. */
const aMinuteFrom = (now: Date): Date =>
  new Date(Math.ceil(after(now, seconds(30)).getTime() / minutes(1)) * minutes(1));

/** The record and the history once every mark of this hold is removed; nothing when the record no longer has this hold. */
export function decideClose(
  record: ScopeRecord,
  holdId: string,
  now: Date,
): { record?: ScopeRecord; past?: PastHold } {
  const { hold } = record;
  if (hold?.id !== holdId || hold.state !== "releasing") return {};
  return { record: withoutHold(record), past: pastOf(record.scope, hold, now) };
}

export const nothingReleased: Released = { released: 0, kept: 0, failed: 0, left: false };

export const sum = (a: Released, b: Released): Released => ({
  released: a.released + b.released,
  kept: a.kept + b.kept,
  failed: a.failed + b.failed,
  left: a.left || b.left,
});
