import { sameBurst } from "../auto/bursts.ts";
import { type HoldLength, halfOf } from "../auto/staircase.ts";
import { after, earlier, later, minutes } from "../duration.ts";
import { isRequested, withUse } from "../holds/causes.ts";
import { extended, type Hold, lookEvery, type ScopeRecord } from "../holds/hold.ts";
import { endOfBoot, lengthAfter, observeUses, ofDemand } from "../holds/learning.ts";
import type { NodeClaim } from "../ports.ts";
import type { Rules } from "../rules.ts";

/** How many of the burst nodes were used within a minute, and when the last such minute began. */
type Used = Readonly<{ burstNodes: number; usedNodes: number; usedAt?: Date }>;

/** A use is as large as a burst when half of the burst nodes are used within this time. */
const within = minutes(1);

/**
 * When the last use that is as large as a burst began; without one, how large the last use was. Its end may be a small
 * pod's, up to a minute later.
 */
export function findUse(uses: readonly Date[], burstNodes: number): Used {
  const latestFirst = uses.toSorted((a, b) => b.getTime() - a.getTime());
  const minuteBefore = (end: Date) => latestFirst.filter((at) => at <= end && at >= after(end, -within));
  const enough = halfOf(burstNodes);
  const large = latestFirst.find((end, at) => {
    const oldest = latestFirst[at + enough - 1];
    return oldest && oldest >= after(end, -within);
  });
  const end = large ?? latestFirst[0];
  const used = end ? minuteBefore(end) : [];
  const usedAt = large && used[enough - 1];
  return { burstNodes, usedNodes: used.length, ...(usedAt && { usedAt }) };
}

export type UseDecision = Readonly<{ because: string; used?: Used; length?: HoldLength | undefined }> &
  (
    | Readonly<{ action: "leave"; record?: ScopeRecord }>
    | Readonly<{ action: "extend" | "cap" | "move"; record: ScopeRecord }>
  );

type UseFacts = Readonly<{
  record: ScopeRecord;
  holdId: string;
  claims: readonly NodeClaim[];
  rules: Rules;
  now: Date;
}>;

/** Every use of a smaller burst would be as large as the burst: it protects the used nodes alone. */
export const smallestBurst = 3;

/**
 * A use that is as large as a burst extends a hold as a launch does, never past the cap. With `hold=auto`, a hold ends when
 * it no longer pays to keep half of its burst, which may be earlier than was decided before.
 */
export function decideUse({ record, holdId, claims, rules, now }: UseFacts): UseDecision {
  const { hold } = record;
  if (hold?.id !== holdId || hold.state !== "held") return { action: "leave", because: "the hold is over" };
  // Judged on the present record: a node may have been recognised as a replacement meanwhile.
  const ofBurst = ofDemand(claims, record);
  const burst = ofBurst.filter(({ joinedAt }) => joinedAt);
  const burstNodes = Math.max(hold.burstNodes ?? 0, burst.length);
  const uses = burst.flatMap(({ lastPodEventAt }) => (lastPodEventAt ? earlier(lastPodEventAt, now) : []));
  const used = findUse(uses, burstNodes);

  const isCounted = burstNodes === hold.burstNodes && ofBurst.length === hold.kept;
  const counted = { ...hold, burstNodes, kept: ofBurst.length, keptAt: now };
  const seen = observeUses(
    isCounted ? record : { ...record, hold: counted },
    rules,
    uses,
    after(now, -lookEvery(rules)),
  );
  const length = lengthAfter(seen, rules, burstNodes);
  const leave = (because: string): UseDecision => {
    const written = seen === record ? {} : { record: seen };
    return { action: "leave", because, used, ...(length && { length }), ...written };
  };
  if (!length && !used.usedAt) {
    const because =
      uses.length === 0 ? "its nodes were not used" : "fewer than half of its nodes were used at once";
    return leave(because);
  }
  const isSmall = burstNodes < smallestBurst;
  const isForAll = isRequested(hold.causes);
  // A person, an event or a window may have asked for all nodes; then a small use keeps them no longer.
  const isTooSmall = isSmall && isForAll;
  const launchedAt = record.lastLaunchAt ?? hold.causedAt;
  const usedAt = later(hold.causes.usedAt ?? launchedAt, used.usedAt ?? launchedAt);
  // Uses within a minute are one burst, so no hold ends sooner.
  const pays = length ? Math.max(sameBurst, length.length) : rules.hold;
  const end = isTooSmall ? hold.expiresAt : after(later(launchedAt, usedAt), pays);
  // What was learned alone makes no hold longer.
  const paid = used.usedAt ? end : earlier(end, hold.expiresAt);
  const booted = length && endOfBoot(ofBurst);
  const mayShorten = length && !isForAll;
  const before = mayShorten ? { ...hold, expiresAt: hold.startedAt, capped: false } : hold;
  const { expiresAt, capped } = extended(before, later(paid, booted ?? paid), rules);
  if (expiresAt.getTime() === hold.expiresAt.getTime())
    return leave(
      isTooSmall
        ? "its burst is small, and all nodes were asked for"
        : "its nodes were not used late enough to extend it",
    );

  const { narrowsAt, ...present } = seen.hold ?? hold;
  const causes = used.usedAt ? { ...hold.causes, usedAt } : hold.causes;
  const decided = { ...present, expiresAt, capped, causes, ...(length && { length }) };
  const decide = (action: "cap" | "extend" | "move", because: string, next: Hold): UseDecision => {
    return { action, because, used, ...(length && { length }), record: { ...seen, hold: next } };
  };
  const isByUse = used.usedAt && paid > hold.expiresAt && expiresAt > hold.expiresAt;
  if (!isByUse) {
    const because =
      expiresAt < hold.expiresAt
        ? "it no longer pays to keep half of its burst for so long"
        : "its nodes boot";
    return decide("move", because, { ...decided, ...(isSmall && narrowsAt && { narrowsAt }) });
  }
  const action = capped && !hold.capped ? "cap" : "extend";
  return decide(action, "its nodes are in use", {
    ...decided,
    causes: withUse(hold.causes, usedAt),
    extensions: hold.extensions + 1,
    ...(isSmall && { narrowsAt: narrowsAt ?? hold.expiresAt }),
  });
}
