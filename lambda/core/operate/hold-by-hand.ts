import { after, type Duration, earlier, formatDuration, later } from "../duration.ts";
import { BadInputError, withMore } from "../errors.ts";
import { withRequest } from "../holds/causes.ts";
import {
  capOf,
  dueAt,
  extended,
  type Hold,
  type PastHold,
  type RequestCause,
  type ScopeRecord,
  startHold,
  widened,
} from "../holds/hold.ts";
import { armAndMark, awaitPendingNodes } from "../holds/mark-nodes.ts";
import { changeRecord, wholeClusterRecord } from "../holds/records.ts";
import { isPaused, type Watermark, watermarkOf, whyNoneCounts } from "../holds/watermark.ts";
import type { Context, Marked } from "../ports.ts";
import type { Rules } from "../rules.ts";
import type { Scope } from "../scope.ts";
import { checkScope } from "./check-scope.ts";

/** Without a `holdId`, `because` is the reason why nothing is held. */
export type HoldAnswer = Readonly<{
  holdId?: string;
  until?: Date;
  marked: number;
  userHeld: number;
  because: string;
}>;

/** Starts or extends a hold without a launch: by hand, for an event, or for a window. */
export async function holdByHand(context: Context, scope: Scope, request: HoldRequest): Promise<HoldAnswer> {
  const { rules, clock, ids } = context;
  // A NodePool may be scaled to zero when a window begins or an event arrives.
  await checkScope(context, { operation: "hold", scope, mayHaveNoNodes: request.cause !== "hand" });
  const whole = await wholeClusterRecord(context, scope);
  const id = request.cause === "hand" ? context.requestId : undefined;
  const decision = await changeRecord(context, scope, (record) => {
    const now = clock.now();
    const watermark = watermarkOf(record, whole);
    const { heldByHand } = record;
    const first = id && heldByHand?.id === id ? heldByHand.at : undefined;
    const asked = { ...request, at: request.at ?? first };
    const decided = decideHold({ record, watermark, request: asked, rules, now, newId: ids.newHoldId(now) });
    if (!id || first || !("hold" in decided)) return decided;
    return { ...decided, record: { ...(decided.record ?? record), heldByHand: { id, at: now } } };
  });
  context.log.info("hold by hand decided", {
    scope,
    cause: request.cause,
    action: decision.action,
    because: decision.because,
  });
  if (decision.action === "refuse" && request.cause === "hand")
    throw new BadInputError("Cannot hold", [decision.because]);
  if (decision.action === "refuse" || decision.action === "leave")
    return { marked: 0, userHeld: 0, because: decision.because };

  const { hold } = decision;
  if (decision.action === "start") context.metrics.add("HoldsStarted", 1);
  if (decision.isCapped) context.metrics.add("HoldsCapped", 1);
  const until = dueAt(hold, rules);
  // Its nodes are marked already. Many events must not list them as often; a person is shown how many there are.
  if (request.cause !== "hand" && hold.armedFor && !hold.unprotected)
    return { holdId: hold.id, until, marked: 0, userHeld: 0, because: decision.because };
  const marking = await markRecorded(context, scope, hold, until);
  return {
    holdId: hold.id,
    until,
    marked: marking.marked + marking.adopted,
    userHeld: marking.userHeld,
    because: decision.because,
  };
}

/** Marks the nodes of a hold that is recorded already; an error says so, because the hold goes on without us. */
async function markRecorded(context: Context, scope: Scope, hold: Hold, until: Date): Promise<Marked> {
  try {
    const marking = await armAndMark(context, scope, hold);
    await awaitPendingNodes(context, { scope, awaited: [], attempt: 0 }, marking);
    return marking;
  } catch (error) {
    const recorded = `the hold is recorded until ${until.toISOString()}`;
    throw withMore(error, `${recorded}: the next sweep marks its nodes, and \`release --force\` cancels it`);
  }
}

/** What to do for a request to hold one scope, and why. */
export type HoldDecision =
  | Readonly<{ action: "refuse"; because: string; record?: never }>
  | Readonly<{ action: "leave"; because: string; record?: never }>
  | Readonly<{
      action: "start" | "extend" | "keep";
      hold: Hold;
      because: string;
      /** Whether the hold reaches its cap by this request. */
      isCapped: boolean;
      record?: ScopeRecord;
      past?: PastHold;
    }>;

/** `at` is when an event happened or a window began, so that a late or duplicate request does not hold for longer. */
export type HoldRequest = Readonly<{
  for: Duration;
  reason: string;
  cause: RequestCause;
  at?: Date | undefined;
}>;

export type HoldFacts = Readonly<{
  record: ScopeRecord;
  watermark: Watermark;
  request: HoldRequest;
  rules: Rules;
  now: Date;
  newId: string;
}>;

/** Holds for as long as asked, never past the cap and not in a pause. In a breather only a person may hold. */
export function decideHold({ record, watermark, request, rules, now, newId }: HoldFacts): HoldDecision {
  if (isPaused(watermark, now))
    return { action: "refuse", because: `${whyNoneCounts(watermark, now)}: resume first` };
  const at = earlier(request.at ?? now, now);
  const wanted = after(at, request.for);
  // A duplicate request must not start a hold again that was capped or released by hand.
  const asked = earlier(wanted, capOf(rules, at) ?? wanted);
  if (asked <= now) return { action: "leave", because: "the requested time is over" };
  if (at < watermark.from && (request.cause !== "hand" || at < countsByHandFrom(watermark, now)))
    return { action: "leave", because: whyNoneCounts(watermark, now) };
  // The watermark of a breather must not end the hold of a person.
  const causedAt = later(now, watermark.from);
  const { hold } = record;
  if (hold?.state !== "held") {
    const causes = withRequest({}, request.cause, request.reason);
    const begun = { id: newId, startedBecause: request.reason, expiresAt: asked, causedAt, causes };
    const isCapped = wanted > asked;
    return { ...startHold(record, { ...begun, capped: isCapped }, now), isCapped };
  }
  const { expiresAt } = extended(hold, asked, rules);
  const capped = hold.capped || wanted > expiresAt;
  const isCapped = capped && !hold.capped;
  if (expiresAt <= hold.expiresAt) {
    const because =
      wanted > expiresAt
        ? `holds last ${formatDuration(rules.maxHold)} at most`
        : "the hold already lasts longer";
    const isNoted = hold.causes[request.cause] !== undefined && !isCapped;
    if (isNoted) return { action: "keep", hold, because, isCapped };
    const causes = withRequest(hold.causes, request.cause, request.reason);
    const noted = { ...widened(hold), capped, causes };
    return { action: "keep", hold: noted, because, isCapped, record: { ...record, hold: noted } };
  }
  const causes = withRequest(hold.causes, request.cause, request.reason);
  const next = { ...widened(hold), expiresAt, capped, causedAt, causes, extensions: hold.extensions + 1 };
  const written = { ...record, hold: next };
  return { action: "extend", hold: next, record: written, because: request.reason, isCapped };
}

/** A breather voids no request by hand but one from before it began, which is a duplicate. */
const countsByHandFrom = ({ from, quiet }: Watermark, now: Date): Date =>
  from > now ? (quiet?.since ?? new Date(0)) : from;
