import type { HoldLength } from "../auto/hold-length.ts";
import { after, earlier, minutes } from "../duration.ts";
import { isRequested, withUse } from "../holds/causes.ts";
import { extended, type ScopeRecord } from "../holds/hold.ts";
import { observe, ofDemand } from "../holds/learning.ts";
import type { NodeClaim } from "../ports.ts";
import type { Rules } from "../rules.ts";

/** How many of the burst nodes were used within a minute, and when the last such minute began. */
type Used = Readonly<{ burstNodes: number; usedNodes: number; usedAt?: Date }>;

/** A use is as large as a burst when this share of the burst nodes is used within this time. */
const largeUse = { share: 1 / 2, within: minutes(1) };

/**
 * When the last use that is as large as a burst began; without one, how large the last use was. Its end may be a small
 * pod's, up to a minute later.
 */
export function findUse(uses: readonly Date[], burstNodes: number, now: Date): Used {
  const latestFirst = uses.map((at) => earlier(at, now)).toSorted((a, b) => b.getTime() - a.getTime());
  const minuteBefore = (end: Date) =>
    latestFirst.filter((at) => at <= end && at >= after(end, -largeUse.within));
  const enough = Math.max(1, Math.ceil(burstNodes * largeUse.share));
  const sets = latestFirst.map(minuteBefore);
  const large = sets.find((used) => used.length >= enough);
  const usedAt = large?.[enough - 1];
  return { burstNodes, usedNodes: (large ?? sets[0] ?? []).length, ...(usedAt && { usedAt }) };
}

export type UseDecision = Readonly<{ because: string; used?: Used; length?: HoldLength | undefined }> &
  (
    | Readonly<{ action: "leave"; record?: ScopeRecord }>
    | Readonly<{ action: "extend" | "cap"; record: ScopeRecord }>
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

/** A use that is as large as a burst extends a hold as a launch does, never past the cap. */
export function decideUse({ record, holdId, claims, rules, now }: UseFacts): UseDecision {
  const { hold } = record;
  if (hold?.id !== holdId || hold.state !== "held") return { action: "leave", because: "the hold is over" };
  // Judged on the present record: a node may have been recognised as a replacement meanwhile.
  const burst = ofDemand(claims, record).filter(({ joinedAt }) => joinedAt);
  const burstNodes = Math.max(hold.burstNodes ?? 0, burst.length);
  const noted = burstNodes > (hold.burstNodes ?? 0) && {
    record: { ...record, hold: { ...hold, burstNodes } },
  };
  const uses = burst.flatMap(({ lastPodEventAt }) => lastPodEventAt ?? []);
  const used = findUse(uses, burstNodes, now);
  const { usedAt } = used;
  if (!usedAt) {
    const because =
      uses.length === 0 ? "its nodes were not used" : "fewer than half of its nodes were used at once";
    return { action: "leave", because, used, ...noted };
  }
  const isSmall = burstNodes < smallestBurst;
  if (isSmall && isRequested(hold.causes))
    return { action: "leave", because: "its burst is small, and all nodes were asked for", used, ...noted };
  const use = { at: usedAt, nodes: burstNodes, kind: "pods" } as const;
  const { record: seen, rules: own, length } = observe(record, rules, use);
  const { expiresAt, capped } = extended(hold, after(usedAt, own.hold), own);
  if (expiresAt <= hold.expiresAt) {
    const because = "its nodes were not used late enough to extend it";
    const written = seen === record ? noted : { record: { ...seen, hold: { ...hold, burstNodes } } };
    return { action: "leave", because, used, length, ...written };
  }
  const causes = withUse(hold.causes, usedAt);
  const extensions = hold.extensions + 1;
  const narrows = isSmall && { narrowsAt: hold.narrowsAt ?? hold.expiresAt };
  const { narrowsAt: _, ...rest } = hold;
  const next = {
    ...rest,
    expiresAt,
    capped,
    causes,
    burstNodes,
    ...(length && { length }),
    extensions,
    ...narrows,
  };
  const action = capped && !hold.capped ? "cap" : "extend";
  return { action, because: "its nodes are in use", used, record: { ...seen, hold: next }, length };
}
