import { after, type Duration, earlier, formatDuration, later } from "../duration.ts";
import { BadInputError, withMore } from "../errors.ts";
import { notJustBefore } from "../launches.ts";
import type { Changed, PassContext } from "../ports.ts";
import { describeQuiet, requestsThatCount, silenceOf } from "../quiet.ts";
import { reconcile, type Trigger } from "../reconcile.ts";
import type { Request, RequestCause, ScopeRecord } from "../record.ts";
import { type Granted, longestWindow, withRequest } from "../requests.ts";
import type { Scope } from "../scope.ts";
import { checkScope } from "./check-scope.ts";

/** A wish to hold: `at` is when an event happened or a window began, so that a late or duplicate one holds no longer. */
export type HoldRequest = Readonly<{
  name: string;
  cause: RequestCause;
  for: Duration;
  reason: string;
  at?: Date | undefined;
}>;

/** What became of a request: from when until when it holds, and until when the scope is held by it and everything else. */
export type HoldAnswer = Pick<Changed, "marked" | "userHeld" | "failed" | "left"> &
  Readonly<{
    name: string;
    holdId?: string;
    since?: Date;
    until?: Date;
    heldUntil?: Date;
    /** No node is marked: `mode=observe`. */
    observed?: true;
    because: string;
  }>;

/** Holds a scope as a person, an event or a window asks for it, and answers with what was granted; what cannot be is refused. */
export async function holdAsAsked(
  context: PassContext,
  scope: Scope,
  request: HoldRequest,
): Promise<HoldAnswer> {
  await checkScope(context, { operation: "hold", scope, mayHaveNoNodes: request.cause !== "person" });
  const { maxRequest } = context.rules;
  const [longest, limit] =
    request.cause === "window"
      ? [longestWindow, formatDuration(longestWindow)]
      : [maxRequest, `maxRequest (${formatDuration(maxRequest)})`];
  if (request.for > longest)
    throw new BadInputError("Cannot hold", [
      `for must be at most ${limit}, not ${formatDuration(request.for)}`,
    ]);
  const { trigger, granted } = asking(request);
  const { record, until, changed } = await reconcile(context, scope, trigger).catch((error: unknown) => {
    const remedy = "the next sweep marks its nodes, and `release --name` cancels it";
    throw granted().action === "start" || granted().action === "extend"
      ? withMore(error, `if the request was recorded, \`status\` shows it: ${remedy}`)
      : error;
  });
  const { because } = granted();
  const own = record.requests.find(({ name, releasedAt }) => name === request.name && !releasedAt);
  // Nobody reads the answer to an event or a window, so that the log alone says that it holds nothing.
  const level = granted().action === "refuse" ? "warn" : "info";
  context.log[level]("request to hold decided", {
    scope,
    name: request.name,
    cause: request.cause,
    ...granted(),
    requests: undefined,
  });
  return {
    name: request.name,
    ...(record.hold && until && { holdId: record.hold.id, heldUntil: until }),
    ...(own && { since: own.at, until: own.until }),
    marked: changed.marked + changed.adopted,
    userHeld: changed.userHeld,
    failed: changed.failed,
    left: changed.left,
    ...(context.rules.mode === "observe" && { observed: true }),
    because,
  };
}

/** The change that a request asks for, and what became of it. */
function asking(request: HoldRequest): Readonly<{ trigger: Trigger; granted: () => Granted }> {
  let granted: Granted = { action: "leave", because: "nothing was decided", requests: [] };
  const change = (record: ScopeRecord, now: Date, whole?: ScopeRecord): ScopeRecord => {
    const silence = silenceOf(record, whole, now);
    // A person asks now, and so after every release that is recorded, whichever clock recorded it.
    const { releasedAt } = silence;
    // A duplicate is known by the time of its event, which counts from the release in whose second it was.
    const happenedAt = request.at ? earlier(request.at, now) : later(now, releasedAt);
    const at = notJustBefore(happenedAt, releasedAt);
    const { name, cause, reason } = request;
    const asked: Request = { name, cause, reason, at: happenedAt, until: after(at, request.for) };
    // An event or a window of a pause holds after it; a person wants to hold now.
    if (silence.quiet?.kind === "paused" && request.cause === "person")
      throw new BadInputError("Cannot hold", [`${describeQuiet(silence.quiet)}: resume first`]);
    if (at < releasedAt) {
      const because = "a release has ended everything from before";
      granted = { action: "leave", because, requests: record.requests };
      return record;
    }
    // A request that was released with everything else may still be there, and would count as the same one.
    const present = requestsThatCount(record, silence, now);
    granted = withRequest(present, asked, now);
    if (granted.action === "refuse" && request.cause === "person")
      throw new BadInputError("Cannot hold", [granted.because]);
    if (granted.requests === present) return record;
    return { ...record, requests: granted.requests.map((one) => (one.name === name ? { ...one, at } : one)) };
  };
  return { trigger: { change }, granted: () => granted };
}
