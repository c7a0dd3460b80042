import { after, type Duration } from "../duration.ts";
import { BadInputError } from "../errors.ts";
import { changeRecord, wholeClusterRecord } from "../holds/change-record.ts";
import { dueAt, isPaused, untilResumed, watermarkOf } from "../holds/hold.ts";
import { awaitPendingNodes } from "../launches/pending-nodes.ts";
import { armAndMark } from "../marks/mark-nodes.ts";
import type { Context } from "../ports.ts";
import { endHolds, isEverything, otherScopes } from "../releases/force-release.ts";
import type { ReleaseAnswer } from "../releases/release-nodes.ts";
import { isKept } from "../rules.ts";
import { type Scope, wholeCluster } from "../scope.ts";
import { decideHold, decidePause, decideResume, type HoldRequest } from "./decide-by-hand.ts";

/** Without a hold there is a reason for that. */
export type HoldAnswer = Readonly<{
  holdId?: string;
  until?: Date;
  marked: number;
  userHeld: number;
  because: string;
}>;

/** Starts or extends a hold without a launch: by hand, for an event, or for a window. */
export async function holdByHand(context: Context, scope: Scope, wish: HoldRequest): Promise<HoldAnswer> {
  const { rules, clock, ids } = context;
  if (!isKept(rules, scope)) {
    const expected = rules.scope === "cluster" ? '"cluster"' : '"nodepool/NAME"';
    throw new BadInputError("Cannot hold", [
      `scope must be ${expected} with this deployment's settings, not "${scope}"`,
    ]);
  }
  const whole = await wholeClusterRecord(context, scope);
  const decision = await changeRecord(context, scope, (record) => {
    const now = clock.now();
    const watermark = watermarkOf(record, whole);
    return decideHold({ record, watermark, wish, rules, now, newId: ids.newHoldId(now) });
  });
  context.log.info("hold by hand decided", {
    scope,
    cause: wish.cause,
    action: decision.action,
    because: decision.because,
  });
  if (decision.action === "refuse" && wish.cause === "hand")
    throw new BadInputError("Cannot hold", [decision.because]);
  if (decision.action === "refuse" || decision.action === "leave")
    return { marked: 0, userHeld: 0, because: decision.because };

  const { hold } = decision;
  if (decision.action === "start") context.metrics.add("HoldsStarted", 1);
  const marking = await armAndMark(context, scope, hold);
  await awaitPendingNodes(context, { scope, awaited: [], attempt: 0 }, marking);
  return {
    holdId: hold.id,
    until: dueAt(hold, rules),
    marked: marking.marked + marking.adopted,
    userHeld: marking.userHeld,
    because: decision.because,
  };
}

/** Releases and holds nothing until then, or until resumed. */
export async function pause(
  context: Context,
  wish: Readonly<{ for?: Duration | undefined; reason: string; scope?: Scope | undefined }>,
): Promise<ReleaseAnswer & Readonly<{ until: Date | undefined }>> {
  const until = wish.for === undefined ? untilResumed : after(context.clock.now(), wish.for);
  const because = `paused by hand: ${wish.reason}`;
  // A pause of everything is kept in the whole cluster's record, where it counts for scopes yet unknown.
  const ending = (record: Parameters<typeof decidePause>[0]) =>
    decidePause(record, { until, reason: wish.reason, now: context.clock.now() });
  const answer = await endHolds(context, { scope: wish.scope, because, ending });
  return { ...answer, because, until: wish.for === undefined ? undefined : until };
}

/** Lets launches count again from now on. */
export async function resume(
  context: Context,
  scope: Scope | undefined,
): Promise<Readonly<{ resumed: Scope[]; because: string }>> {
  const others = isEverything(scope) ? await otherScopes(context) : [];
  const resumed: Scope[] = [];
  let because = "nothing was paused";
  for (const each of [scope ?? wholeCluster, ...others]) {
    const decision = await changeRecord(context, each, (record) => decideResume(record, context.clock.now()));
    context.log.info("resume decided", { scope: each, action: decision.action, because: decision.because });
    if (decision.action === "leave") continue;
    resumed.push(each);
    because = decision.because;
  }
  const whole = scope && (await wholeClusterRecord(context, scope));
  if (whole && isPaused(watermarkOf(whole), context.clock.now()))
    because = "the whole cluster is still paused: resume it";
  return { resumed, because };
}
