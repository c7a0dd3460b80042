import { unwatched } from "../auto/observe.ts";
import { after, type Duration, earlier, minutes } from "../duration.ts";
import {
  countingFrom,
  dueAt,
  fenced,
  type Hold,
  type PastHold,
  pastOf,
  type ScopeRecord,
  silenced,
  withJoinedNode,
  withoutHold,
  withoutLaunchAhead,
} from "../holds/hold.ts";
import { isKept, type Rules } from "../rules.ts";

/** Most nodes have joined after so long. */
const longestBoot: Duration = minutes(5);

/** What a one-shot that fired means, and why. */
export type ReleaseDecision =
  | Readonly<{ action: "leave"; because: string; record?: never }>
  | Readonly<{ action: "rearm"; hold: Hold; armFor: Date; because: string; record?: never }>
  | Release;

type Release = Readonly<{ action: "release"; hold: Hold; because: string; record?: ScopeRecord }>;

type ReleaseFacts = Readonly<{ record: ScopeRecord; holdId: string; rules: Rules; now: Date }>;

/** Fences the hold if it expired; one extended meanwhile is armed anew. */
export function decideRelease({ record, holdId, rules, now }: ReleaseFacts): ReleaseDecision {
  const { hold } = record;
  if (!hold) return { action: "leave", because: "nothing is held" };
  if (hold.id !== holdId) return { action: "leave", because: "another hold took its place" };
  if (hold.state === "releasing") return { action: "release", hold, because: "its release was not finished" };
  const due = dueAt(hold, rules);
  if (now >= due) return fence({ record, hold, rules, now });
  if (hold.armedFor?.getTime() !== due.getTime())
    return { action: "rearm", hold, armFor: due, because: "the hold was extended" };
  // Clocks differ. Armed for the same moment again, it would be taken for the one that is just firing.
  return { action: "rearm", hold, armFor: after(due, minutes(1)), because: "the one-shot came early" };
}

type FenceFacts = Readonly<{ record: ScopeRecord; hold: Hold; rules: Rules; now: Date }>;

/** Ends a hold that is due; after a capped one launches are silent for a breather. */
export function fence({ record, hold, rules, now }: FenceFacts): Release {
  // Also a cap that was lowered while the hold was on: launches that come all the time would start the next at once.
  const isCapped = hold.capped || dueAt(hold, rules) < hold.expiresAt;
  const because = isCapped ? "the hold has reached its cap" : "the hold expired";
  const next = fenced(hold, because);
  const judged = isTooShort(record, now) ? withJoinedNode(record) : record;
  const over = { ...(isCapped ? unwatched(judged, now) : judged), hold: next };
  // A hold left behind by another setting of scope ends without: the whole cluster's silence is every NodePool's.
  const needsBreather = isCapped && isKept(rules, record.scope);
  const written = needsBreather
    ? silenced(over, after(now, rules.breather), {
        kind: "breather",
        since: now,
        because: "a hold reached its cap",
      })
    : over;
  return { action: "release", hold: next, record: written, because };
}

/** Nodes that boot need not have joined by the end of a short hold. */
const isTooShort = ({ unjoinedSince }: ScopeRecord, now: Date): boolean =>
  unjoinedSince !== undefined && now < after(unjoinedSince, longestBoot);

type ForceFacts = Readonly<{ reason: string; now: Date; askedAt?: Date | undefined }>;

/**
 * Ends what is held now, by hand; a pause stays a pause, and no launch delivered late brings the hold back.
 * With `askedAt` it may come late itself: then it ends only what began before.
 */
export function decideForce(record: ScopeRecord, { reason, now, askedAt }: ForceFacts) {
  const { hold } = record;
  const from = askedAt ? earlier(askedAt, now) : now;
  const isSilent = record.launchesCountFrom !== undefined && record.launchesCountFrom > from;
  const past = withoutLaunchAhead(unwatched(record, now), now);
  const next = isSilent ? past : countingFrom(past, from);
  if (!hold) return { action: "note" as const, record: next, because: "nothing is held" };
  if (askedAt && hold.startedAt >= from && hold.causedAt >= from) {
    return {
      action: "note" as const,
      record: next,
      because: "the hold began after its release was asked for",
    };
  }
  const over = hold.state === "held" ? fenced(hold, reason) : hold;
  return { action: "release" as const, hold: over, record: { ...next, hold: over }, because: reason };
}

/** The record and the history once every mark of this hold is off; nothing when the hold is no longer there. */
export function decideClose(
  record: ScopeRecord,
  holdId: string,
  now: Date,
): { record?: ScopeRecord; past?: PastHold } {
  const { hold } = record;
  if (hold?.id !== holdId || hold.state !== "releasing") return {};
  return { record: withoutHold(record), past: pastOf(record.scope, hold, now) };
}
