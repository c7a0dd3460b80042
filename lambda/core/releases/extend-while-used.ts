import { after, type Duration, earlier, later, minutes } from "../duration.ts";
import { BrokenSetupError } from "../errors.ts";
import { withUse } from "../holds/causes.ts";
import { changeRecord } from "../holds/change-record.ts";
import { capOf, dueAt, extended, type Hold, type ScopeRecord } from "../holds/hold.ts";
import type { NodeClaim, ReleaseContext } from "../ports.ts";
import { reportLimit } from "../report-limit.ts";
import { isKept, type Rules } from "../rules.ts";
import type { Scope } from "../scope.ts";

/** A NodeClaim is made before its instance is launched. */
const nodeClaimIsOlderBy: Duration = minutes(1);
/** A hold whose use cannot be read is due all the same after so long. */
const patience: Duration = minutes(10);

/** Extends a hold that is due while the nodes launched for it are in use; one list of NodeClaims, and only then. */
export async function extendWhileUsed(context: ReleaseContext, scope: Scope): Promise<void> {
  const { rules, clock, holds, log, metrics } = context;
  const record = await holds.find(scope);
  const burst = record && burstOf(record, rules, clock.now());
  if (!burst) return;
  const claims = await readClaims(context, scope, burst);
  const usedAt = lastUse(claims, record);
  if (!usedAt) return;

  const decision = await changeRecord(context, scope, (present) =>
    decideUse(present, burst.hold.id, earlier(usedAt, clock.now()), rules),
  );
  const { action, because } = decision;
  log.info("use decided", { scope, holdId: burst.hold.id, action, because, usedAt });
  if (action === "leave") return;
  metrics.add("HoldsExtendedByUse", 1);
  if (action === "cap") metrics.add("HoldsCapped", 1);
}

type Burst = Readonly<{ hold: Hold; from: Date; isOverdue: boolean }>;

/** What to ask for: a hold that is due, below its cap, and began with launches. */
function burstOf({ scope, hold }: ScopeRecord, rules: Rules, now: Date): Burst | undefined {
  if (rules.extendOn !== "use" || hold?.state !== "held" || !hold.burstFrom) return undefined;
  const cap = capOf(rules, hold.startedAt);
  const due = dueAt(hold, rules);
  if (now < due || (cap && now >= cap) || !isKept(rules, scope)) return undefined;
  return { hold, from: after(hold.burstFrom, -nodeClaimIsOlderBy), isOverdue: now >= after(due, patience) };
}

async function readClaims(
  context: ReleaseContext,
  scope: Scope,
  { hold, from, isOverdue }: Burst,
): Promise<readonly NodeClaim[]> {
  try {
    const claims = await context.nodeClaims.launchedSince(scope, from, context);
    if (!("unavailable" in claims)) return claims;
    reportLimit(context, claims);
    return [];
  } catch (error) {
    if (!isOverdue && !(error instanceof BrokenSetupError)) throw error;
    context.log.error("a hold ends though its use could not be read", { scope, holdId: hold.id, error });
    return [];
  }
}

/** A replacement takes over what ran on other nodes, which is no use of this hold's. */
function lastUse(claims: readonly NodeClaim[], record: ScopeRecord): Date | undefined {
  const replacements = new Set(record.replacements?.map(({ instance }) => instance));
  const uses = claims.flatMap(({ instance, lastPodEventAt }) =>
    lastPodEventAt && !(instance && replacements.has(instance)) ? [lastPodEventAt] : [],
  );
  return uses.length > 0 ? uses.reduce(later) : undefined;
}

export type UseDecision =
  | Readonly<{ action: "leave"; because: string; record?: never }>
  | Readonly<{ action: "extend" | "cap"; because: string; record: ScopeRecord }>;

/** Use holds as long as a launch does, never past the cap. */
export function decideUse(record: ScopeRecord, holdId: string, usedAt: Date, rules: Rules): UseDecision {
  const { hold } = record;
  if (hold?.id !== holdId || hold.state !== "held") return { action: "leave", because: "the hold is over" };
  const { expiresAt, capped } = extended(hold, after(usedAt, rules.hold), rules);
  if (expiresAt <= hold.expiresAt) return { action: "leave", because: "its nodes were not used since" };
  const causes = withUse(hold.causes, usedAt);
  const next = { ...hold, expiresAt, capped, causes, extensions: hold.extensions + 1 };
  const action = capped && !hold.capped ? "cap" : "extend";
  return { action, because: "its nodes are in use", record: { ...record, hold: next } };
}
