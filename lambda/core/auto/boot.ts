import { after, earlier, later, minutes } from "../duration.ts";
import { extended, type ScopeRecord } from "../holds/hold.ts";
import type { NodeClaim } from "../ports.ts";
import type { Rules } from "../rules.ts";

/** Nodes that were just launched are protected until they are used once, however short the hold, but not for longer. */
export const bootTime = minutes(5);
/** How often it is asked whether they are. */
export const bootCheck = minutes(1);

/** Until when a launch is protected before the use of its nodes counts, or where use cannot be read. */
export function bootsUntil(launchedAt: Date, { auto, extendOn }: Rules, now: Date): Date {
  if (!auto) return launchedAt;
  const end = after(launchedAt, bootTime);
  return extendOn === "use" ? earlier(end, after(now, bootCheck)) : end;
}

export type BootDecision =
  | Readonly<{ action: "leave"; because: string; record?: never }>
  | Readonly<{ action: "extend"; because: string; record: ScopeRecord }>;

export type BootFacts = Readonly<{
  record: ScopeRecord;
  holdId: string;
  /** Undefined: it is not known whether nodes boot. */
  claims: readonly NodeClaim[] | undefined;
  rules: Rules;
  now: Date;
}>;

/** Extends a short hold that is due while its nodes boot. */
export function decideBoot({ record, holdId, claims, rules, now }: BootFacts): BootDecision {
  const { hold, lastLaunchAt } = record;
  if (!rules.auto || hold?.id !== holdId || hold.state !== "held") {
    return { action: "leave", because: "the hold is over" };
  }
  const until = claims ? endOfBoot(claims, record) : lastLaunchAt && after(lastLaunchAt, bootTime);
  if (!until || until <= now) return { action: "leave", because: "no node of the hold is booting" };
  const next = { ...hold, ...extended(hold, claims ? earlier(until, after(now, bootCheck)) : until, rules) };
  if (next.expiresAt <= hold.expiresAt) return { action: "leave", because: "the hold lasts as long already" };
  return { action: "extend", because: "its nodes have not been used yet", record: { ...record, hold: next } };
}

/** When the youngest node that was never used need no longer be waited for. */
function endOfBoot(claims: readonly NodeClaim[], record: ScopeRecord): Date | undefined {
  const unused = ofDemand(claims, record).filter(({ lastPodEventAt }) => !lastPodEventAt);
  return unused.length > 0
    ? after(unused.map(({ createdAt }) => createdAt).reduce(later), bootTime)
    : undefined;
}

/** A replacement takes over what ran on other nodes, which is no use of this hold's. */
export function ofDemand(claims: readonly NodeClaim[], { replacements }: ScopeRecord): readonly NodeClaim[] {
  const replacing = new Set(replacements?.map(({ instance }) => instance));
  return claims.filter(({ instance }) => !(instance && replacing.has(instance)));
}
