import { describeLength } from "../auto/staircase.ts";
import { after, type Duration, earlier, minutes } from "../duration.ts";
import { BrokenSetupError } from "../errors.ts";
import {
  dueAt,
  extended,
  type Hold,
  isUnjoined,
  joinedHold,
  joinsCountFrom,
  lastsUntilCap,
  longestBoot,
  type ScopeRecord,
} from "../holds/hold.ts";
import { changeRecord, findRecord } from "../holds/records.ts";
import type { NodeClaim, ReleaseContext } from "../ports.ts";
import { reportLimit } from "../report-limit.ts";
import { isKept, type Rules } from "../rules.ts";
import type { Scope } from "../scope.ts";
import { decideUse } from "./decide-use.ts";
import { letNodesGo } from "./let-go.ts";

/** A hold whose use cannot be read ends when it is overdue for this long. */
const patience: Duration = minutes(10);
/** How often to check whether the first node has joined. */
const joinCheck: Duration = minutes(1);

/**
 * What a one-shot or a sweep does first: extends the hold for use that is as large as its burst, lets single nodes go, and
 * waits for the first node of a hold that is due. Returns the id of a hold none of whose nodes was found.
 */
export async function look(context: ReleaseContext, scope: Scope): Promise<string | undefined> {
  const { rules, clock } = context;
  const record = await findRecord(context, scope);
  const { hold } = record;
  if (hold?.state !== "held" || !isKept(rules, scope)) return undefined;
  if (isUnjoined(hold)) {
    if (clock.now() < dueAt(hold, rules)) return undefined;
    if (!(await awaitFirstNode(context, scope, hold))) return hold.id;
  }
  const { burstFrom } = hold;
  if (!burstFrom) return undefined;
  // A hold that lasts until its cap ends then, whatever its nodes do; what `hold=auto` has decided may change.
  const countsUse = rules.extendOn === "use" && (rules.auto || !lastsUntilCap(hold, rules));
  const readAt = clock.now();
  if (!countsUse && readAt >= dueAt(hold, rules)) return undefined;
  const claims = await readClaims(context, scope, hold);
  if (!claims) return undefined;
  if (countsUse) await extendWhileUsed(context, scope, hold, ofBurst(claims, burstFrom));
  await letNodesGo(context, scope, { claims, readAt });
  return undefined;
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

/** Those whose nodes may have been launched for the hold. */
const ofBurst = (claims: readonly NodeClaim[], burstFrom: Date) =>
  claims.filter(({ joinedAt }) => !joinedAt || joinedAt >= joinsCountFrom(burstFrom));

/** Extends the hold if its nodes are in use; with `hold=auto`, decides anew when it ends. */
async function extendWhileUsed(
  context: ReleaseContext,
  scope: Scope,
  hold: Hold,
  claims: readonly NodeClaim[],
): Promise<void> {
  const { rules, clock, log, metrics } = context;
  const { action, because, used, length } = await changeRecord(context, scope, (record) =>
    decideUse({ record, holdId: hold.id, claims, rules, now: clock.now() }),
  );
  log.info("use decided", {
    scope,
    holdId: hold.id,
    action,
    because,
    ...used,
    ...(length && { length: describeLength(length) }),
  });
  if (action !== "extend" && action !== "cap") return;
  metrics.add("HoldsExtendedByUse", 1);
  if (action === "cap") metrics.add("HoldsCapped", 1);
}

async function readClaims(
  context: ReleaseContext,
  scope: Scope,
  hold: Hold,
): Promise<readonly NodeClaim[] | undefined> {
  try {
    const claims = await context.nodeClaims.ofScope(scope, context);
    if (!("unavailable" in claims)) return claims;
    reportLimit(context, claims);
    return undefined;
  } catch (error) {
    const now = context.clock.now();
    const due = dueAt(hold, context.rules);
    if (now < due) {
      context.log.warn("whether a hold is used could not be read: the next look reads it again", {
        scope,
        error,
      });
      return undefined;
    }
    if (now < after(due, patience) && !(error instanceof BrokenSetupError)) throw error;
    context.log.error("a hold ends though its use could not be read", { scope, holdId: hold.id, error });
    return undefined;
  }
}
