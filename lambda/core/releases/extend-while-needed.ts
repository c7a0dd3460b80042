import { describeLength, type HoldLength } from "../auto/hold-length.ts";
import type { Learned } from "../auto/learned.ts";
import { after, type Duration, earlier, later, minutes } from "../duration.ts";
import { BrokenSetupError } from "../errors.ts";
import { withUse } from "../holds/causes.ts";
import {
  capOf,
  dueAt,
  extended,
  type Hold,
  isUnjoined,
  joinedHold,
  joinsCountFrom,
  longestBoot,
  type ScopeRecord,
} from "../holds/hold.ts";
import { decideBoot, observe, ofDemand, reportLearned } from "../holds/learning.ts";
import { changeRecord, findRecord } from "../holds/records.ts";
import type { NodeClaim, ReleaseContext } from "../ports.ts";
import { reportLimit } from "../report-limit.ts";
import { isKept, type Rules } from "../rules.ts";
import type { Scope } from "../scope.ts";

/** A NodeClaim is created at most this long before its instance is launched. */
const nodeClaimIsOlderBy: Duration = minutes(1);
/** A hold whose use cannot be read ends when it is overdue for this long. */
const patience: Duration = minutes(10);
/** How often to check whether the first node has joined. */
const joinCheck: Duration = minutes(1);

/**
 * Extends a hold that is due while its first node is awaited, and while the nodes launched for it are in use. Returns the
 * id of a hold none of whose nodes was found.
 */
export async function extendWhileNeeded(context: ReleaseContext, scope: Scope): Promise<string | undefined> {
  const { rules, clock } = context;
  const record = await findRecord(context, scope);
  const { hold } = record;
  if (hold?.state !== "held" || !isKept(rules, scope)) return undefined;
  const due = dueAt(hold, rules);
  if (clock.now() < due) return undefined;
  const isJoined = !isUnjoined(hold) || (await awaitFirstNode(context, scope, hold));
  const cap = capOf(rules, hold.startedAt);
  // A hold that has reached its cap ends, whatever its nodes do.
  if (isJoined && (!cap || due < cap)) await extendWhileUsed(context, scope, record);
  return isJoined ? undefined : hold.id;
}

/** Returns whether a node has joined, and notes that. Until then the hold waits while the last node may still boot. */
async function awaitFirstNode(
  context: ReleaseContext,
  scope: Scope,
  { id, burstFrom }: Hold & { burstFrom: Date },
): Promise<boolean> {
  const hasJoined = await readJoined(context, scope, burstFrom);
  const now = context.clock.now();
  const { isJoined, because } = await changeRecord(context, scope, (record) =>
    decideJoin({ record, holdId: id, hasJoined, rules: context.rules, now }),
  );
  context.log.info("join decided", { scope, holdId: id, because });
  return isJoined;
}

/** Marking notes most nodes that join, but not one that needs no mark, or whose note was lost in a crash. */
async function readJoined(context: ReleaseContext, scope: Scope, burstFrom: Date): Promise<boolean> {
  try {
    return await context.nodes.hasJoined(scope, joinsCountFrom(burstFrom), context);
  } catch (error) {
    // In doubt the hold counts as joined.
    context.log.warn("whether a node has joined could not be read", { scope, error });
    return true;
  }
}

type JoinFacts = Readonly<{
  record: ScopeRecord;
  holdId: string;
  hasJoined: boolean;
  rules: Rules;
  now: Date;
}>;

type JoinDecision = Readonly<{ isJoined: boolean; because: string; record?: ScopeRecord }>;

export function decideJoin({ record, holdId, hasJoined, rules, now }: JoinFacts): JoinDecision {
  const { hold, lastLaunchAt } = record;
  if (hold?.id !== holdId || hold.state !== "held") return { isJoined: false, because: "the hold is over" };
  const joined = { isJoined: true, because: "one of its nodes has joined" };
  if (!isUnjoined(hold)) return joined;
  if (hasJoined) return { ...joined, record: { ...record, hold: joinedHold(hold, rules) } };
  // The wait is bounded, however many launches follow the first one.
  const latest = after(hold.burstFrom, rules.hold + longestBoot);
  const booted = after(lastLaunchAt ?? hold.burstFrom, longestBoot);
  const until = earlier(earlier(booted, latest), after(now, joinCheck));
  if (until <= now) return { isJoined: false, because: "none of its nodes has joined in time" };
  const next = { ...hold, ...extended(hold, until, rules) };
  return { isJoined: false, because: "its first node is awaited", record: { ...record, hold: next } };
}

/** Extends the hold if its nodes are in use; this costs one list of NodeClaims. */
async function extendWhileUsed(context: ReleaseContext, scope: Scope, record: ScopeRecord): Promise<void> {
  const { rules, clock, log, metrics } = context;
  const burst = burstOf(record, rules, clock.now());
  if (!burst) return;
  const claims = await readClaims(context, scope, burst);
  if (rules.auto) await extendWhileBooting(context, scope, burst.hold.id, claims);
  const usedAt = (present: ScopeRecord) => lastUse(claims ?? [], present, clock.now());
  if (!usedAt(record)) return;

  const before: { learned?: Learned | undefined } = {};
  const decision = await changeRecord(context, scope, (present) => {
    before.learned = present.learned;
    // Computed again: a node that was used may have been recognised as a replacement meanwhile.
    return decideUse({ record: present, holdId: burst.hold.id, usedAt: usedAt(present), rules });
  });
  reportLearned(metrics, before.learned, decision.record?.learned);
  const { action, because, length } = decision;
  log.info("use decided", {
    scope,
    holdId: burst.hold.id,
    action,
    because,
    usedAt: usedAt(record),
    ...(length && { length: describeLength(length) }),
  });
  if (action === "leave") return;
  metrics.add("HoldsExtendedByUse", 1);
  if (action === "cap") metrics.add("HoldsCapped", 1);
}

type Burst = Readonly<{ hold: Hold; from: Date; isOverdue: boolean }>;

/** The nodes whose use counts: those that were launched for the hold. */
function burstOf({ hold }: ScopeRecord, rules: Rules, now: Date): Burst | undefined {
  if (rules.extendOn !== "use" || !hold?.burstFrom) return undefined;
  const from = after(hold.burstFrom, -nodeClaimIsOlderBy);
  return { hold, from, isOverdue: now >= after(dueAt(hold, rules), patience) };
}

async function readClaims(
  context: ReleaseContext,
  scope: Scope,
  { hold, from, isOverdue }: Burst,
): Promise<readonly NodeClaim[] | undefined> {
  try {
    const claims = await context.nodeClaims.launchedSince(scope, from, context);
    if (!("unavailable" in claims)) return claims;
    reportLimit(context, claims);
    return undefined;
  } catch (error) {
    if (!isOverdue && !(error instanceof BrokenSetupError)) throw error;
    context.log.error("a hold ends though its use could not be read", { scope, holdId: hold.id, error });
    return undefined;
  }
}

async function extendWhileBooting(
  context: ReleaseContext,
  scope: Scope,
  holdId: string,
  claims: readonly NodeClaim[] | undefined,
): Promise<void> {
  const { rules, clock } = context;
  const { action, because } = await changeRecord(context, scope, (record) =>
    decideBoot({ record, holdId, claims, rules, now: clock.now() }),
  );
  context.log.info("boot decided", { scope, holdId, action, because });
}

function lastUse(claims: readonly NodeClaim[], record: ScopeRecord, now: Date): Date | undefined {
  const uses = ofDemand(claims, record).flatMap(({ lastPodEventAt }) => lastPodEventAt ?? []);
  return uses.length > 0 ? earlier(uses.reduce(later), now) : undefined;
}

export type UseDecision =
  | Readonly<{ action: "leave"; because: string; record?: ScopeRecord; length?: HoldLength | undefined }>
  | Readonly<{
      action: "extend" | "cap";
      because: string;
      record: ScopeRecord;
      length?: HoldLength | undefined;
    }>;

type UseFacts = Readonly<{ record: ScopeRecord; holdId: string; usedAt: Date | undefined; rules: Rules }>;

/** A use extends a hold as a launch does, never past the cap. */
export function decideUse({ record, holdId, usedAt, rules }: UseFacts): UseDecision {
  const { hold } = record;
  if (hold?.id !== holdId || hold.state !== "held") return { action: "leave", because: "the hold is over" };
  if (!usedAt) return { action: "leave", because: "only replacements were used" };
  const use = { at: usedAt, nodes: Math.max(1, hold.launches), kind: "pods" } as const;
  const { record: seen, rules: own, length } = observe(record, rules, use);
  const { expiresAt, capped } = extended(hold, after(usedAt, own.hold), own);
  if (expiresAt <= hold.expiresAt) {
    const because = "its nodes were not used late enough to extend it";
    return { action: "leave", because, length, ...(seen !== record && { record: seen }) };
  }
  const causes = withUse(hold.causes, usedAt);
  const extensions = hold.extensions + 1;
  const next = { ...hold, expiresAt, capped, causes, ...(length && { length }), extensions };
  const action = capped && !hold.capped ? "cap" : "extend";
  return { action, because: "its nodes are in use", record: { ...seen, hold: next }, length };
}
