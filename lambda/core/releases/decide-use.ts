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
  const before = isCounted ? record : { ...record, hold: counted };
  const seen = observeUses(before, rules, uses, after(now, -lookEvery(rules)));
  const length = lengthAfter(seen, rules, burstNodes);
  const found = { used, ...(length && { length }) };

  const byUse = endByUse({ record, hold, used, length, rules });
  const booted = length && endOfBoot(ofBurst);
  const movable = length && !isRequested(hold.causes) ? withoutEnd(hold) : hold;
  const { expiresAt, capped } = extended(movable, later(byUse, booted ?? byUse), rules);
  if (expiresAt.getTime() === hold.expiresAt.getTime()) {
    const written = seen === record ? {} : { record: seen };
    return { action: "leave", because: whyLeft(hold, used), ...found, ...written };
  }

  const { narrowsAt, ...present } = seen.hold ?? hold;
  const causes = used.usedAt ? { ...hold.causes, usedAt: lastUse(hold, used.usedAt) } : hold.causes;
  const next = { ...present, expiresAt, capped, causes, ...(length && { length }) };
  const isSmall = burstNodes < smallestBurst;
  if (!used.usedAt || byUse <= hold.expiresAt || expiresAt < hold.expiresAt) {
    const isSooner = expiresAt < hold.expiresAt;
    const because = isSooner ? "it no longer pays to keep half of its burst for so long" : "its nodes boot";
    const moved = { ...next, ...(isSmall && narrowsAt && { narrowsAt }) };
    return { action: "move", because, ...found, record: { ...seen, hold: moved } };
  }
  const inUse = {
    ...next,
    causes: withUse(hold.causes, lastUse(hold, used.usedAt)),
    extensions: hold.extensions + 1,
    ...(isSmall && { narrowsAt: narrowsAt ?? hold.expiresAt }),
  };
  const action = capped && !hold.capped ? "cap" : "extend";
  return { action, because: "its nodes are in use", ...found, record: { ...seen, hold: inUse } };
}

type UseOfHold = Readonly<{
  record: ScopeRecord;
  hold: Hold;
  used: Used;
  length: HoldLength | undefined;
  rules: Rules;
}>;

/** Until when its last launch and use ask to keep it. What was learned alone makes no hold longer. */
function endByUse({ record, hold, used, length, rules }: UseOfHold): Date {
  if (isTooSmall(hold, used)) return hold.expiresAt;
  const launchedAt = record.lastLaunchAt ?? hold.causedAt;
  // Uses within a minute are one burst, so no hold ends sooner.
  const lasts = length ? Math.max(sameBurst, length.length) : rules.hold;
  const end = after(later(launchedAt, lastUse(hold, used.usedAt ?? launchedAt)), lasts);
  return used.usedAt ? end : earlier(end, hold.expiresAt);
}

const lastUse = ({ causes }: Hold, usedAt: Date): Date => later(causes.usedAt ?? usedAt, usedAt);

/** A person, an event or a window may have asked for all nodes; then the use of a small burst keeps them no longer. */
const isTooSmall = (hold: Hold, { burstNodes }: Used): boolean =>
  burstNodes < smallestBurst && isRequested(hold.causes);

/** The hold, so that its end may move back as well. */
const withoutEnd = (hold: Hold): Hold => ({ ...hold, expiresAt: hold.startedAt, capped: false });

function whyLeft(hold: Hold, used: Used): string {
  if (used.usedNodes === 0) return "its nodes were not used";
  if (!used.usedAt) return "fewer than half of its nodes were used at once";
  if (isTooSmall(hold, used)) return "its burst is small, and all nodes were asked for";
  return "its nodes were not used late enough to extend it";
}
