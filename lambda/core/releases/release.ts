import { after, earlier, minutes } from "../duration.ts";
import { decideEnd, endHold, nothingReleased, whyOver } from "../holds/end-hold.ts";
import { type Hold, nextLookAt, type ScopeRecord, soonestLook } from "../holds/hold.ts";
import { armRelease } from "../holds/mark-nodes.ts";
import { changeRecord, wholeClusterRecord } from "../holds/records.ts";
import { type Watermark, watermarkOf } from "../holds/watermark.ts";
import type { ReleaseContext, Released } from "../ports.ts";
import type { Rules } from "../rules.ts";
import type { Scope } from "../scope.ts";
import { look } from "./look.ts";

/** What a release did, and why. */
export type ReleaseAnswer = Released & Readonly<{ because: string }>;

/** Handles a one-shot: looks at the hold, then ends it and removes its marks, or sets the next one-shot. */
export async function releaseNodes(
  context: ReleaseContext,
  scope: Scope,
  holdId: string,
): Promise<ReleaseAnswer> {
  const decision = await decideNow(context, scope, holdId);
  const { because } = decision;
  context.log.info("release decided", { scope, holdId, action: decision.action, because });
  if (decision.action === "release")
    return { ...(await endHold(context, { scope, hold: decision.hold })), because };
  if (decision.action === "keep")
    await armRelease(context, { scope, hold: decision.hold, at: decision.armFor });
  return { ...nothingReleased, because };
}

/** Extends a hold while it is needed, then decides on what is recorded now. */
export async function decideNow(
  context: ReleaseContext,
  scope: Scope,
  holdId?: string,
): Promise<ReleaseDecision> {
  const { rules, clock } = context;
  // One time for both steps: a hold that was not due when its use was read is not due below either.
  const now = clock.now();
  const withoutNode = await look(context, scope);
  const whole = await wholeClusterRecord(context, scope);
  return changeRecord(context, scope, (record) =>
    decideRelease({ record, watermark: watermarkOf(record, whole), withoutNode, holdId, rules, now }),
  );
}

/** What a one-shot or a sweep does with the hold of one scope, and why. */
export type ReleaseDecision =
  | Readonly<{ action: "leave"; because: string; record?: never }>
  | Readonly<{ action: "keep"; hold: Hold; armFor: Date; because: string; record?: never }>
  | Readonly<{ action: "release"; hold: Hold; because: string; record?: ScopeRecord }>;

export type ReleaseFacts = Readonly<{
  record: ScopeRecord;
  watermark: Watermark;
  withoutNode?: string | undefined;
  /** The hold to release; undefined: the present hold, whichever it is. */
  holdId?: string | undefined;
  rules: Rules;
  now: Date;
}>;

/** Ends a hold that is over; a hold that goes on needs a one-shot in the future. */
export function decideRelease({ holdId, ...facts }: ReleaseFacts): ReleaseDecision {
  const { record, rules, now } = facts;
  const { hold } = record;
  if (!hold) return { action: "leave", because: "nothing is held" };
  if (holdId !== undefined && hold.id !== holdId)
    return { action: "leave", because: "another hold took its place" };
  if (hold.state === "releasing") return { action: "release", hold, because: "its release was not finished" };
  const end = whyOver(facts);
  if (end) {
    const ended = decideEnd(record, hold, end, now);
    return { action: "release", hold: ended.hold, record: ended, because: end.because };
  }
  const { armedFor } = hold;
  const next = nextLookAt(hold, rules, now);
  const because = "the hold goes on";
  // A cap that was lowered makes it due before its one-shot.
  if (holdId === undefined)
    return {
      action: "keep",
      hold,
      armFor: armedFor && armedFor > now ? earlier(armedFor, next) : next,
      because,
    };
  const isEarly = armedFor?.getTime() === next.getTime() && next <= after(now, soonestLook);
  if (!isEarly) return { action: "keep", hold, armFor: next, because };
  // Clocks differ. A one-shot for the same time would count as the one that is just firing.
  return { action: "keep", hold, armFor: after(next, minutes(1)), because: "the one-shot came early" };
}
