import { after, minutes, seconds } from "../duration.ts";
import { changeRecord } from "../holds/change-record.ts";
import type { Hold } from "../holds/hold.ts";
import type { ReleaseContext, Released } from "../ports.ts";
import type { Scope } from "../scope.ts";
import { armRelease } from "./arm-release.ts";
import { decideClose, decideRelease } from "./decide-release.ts";
import { extendWhileUsed } from "./extend-while-used.ts";
import { handOver } from "./hand-over.ts";

/** What a release did, and why. */
export type ReleaseAnswer = Released & Readonly<{ because: string }>;

export const nothingReleased: Released = { released: 0, kept: 0, failed: 0, left: false };

export const sum = (a: Released, b: Released): Released => ({
  released: a.released + b.released,
  kept: a.kept + b.kept,
  failed: a.failed + b.failed,
  left: a.left || b.left,
});

/** A one-shot fired: fence, unmark, close; or arm anew when a launch or use extended the hold. */
export async function releaseNodes(
  context: ReleaseContext,
  scope: Scope,
  holdId: string,
): Promise<ReleaseAnswer> {
  const { rules, clock } = context;
  // A hold that was not due when its use was asked for is not due below either.
  const now = clock.now();
  await extendWhileUsed(context, scope);
  const decision = await changeRecord(context, scope, (record) =>
    decideRelease({ record, holdId, rules, now }),
  );
  const { action, because } = decision;
  context.log.info("release decided", { scope, holdId, action, because });
  if (decision.action === "rearm")
    await armRelease(context, { scope, hold: decision.hold, at: decision.armFor });
  if (decision.action !== "release") return { ...nothingReleased, because };
  return { ...(await finishRelease(context, scope, decision.hold)), because };
}

/** Takes the marks of a fenced hold off and closes it; what could not be done goes on in a minute. */
export async function finishRelease(context: ReleaseContext, scope: Scope, hold: Hold): Promise<Released> {
  await handOver(context, [{ scope, hold }]);
  return closeRelease(context, { scope, hold }, await context.nodes.release({ holdId: hold.id }, context));
}

/** Closes a hold whose marks are off; with some left the release goes on in a minute. */
export async function closeRelease(
  context: ReleaseContext,
  { scope, hold }: Readonly<{ scope: Scope; hold: Hold }>,
  released: Released,
): Promise<Released> {
  context.log.info("nodes released", { scope, holdId: hold.id, ...released });
  if (released.left || released.failed > 0) {
    await armRelease(context, { scope, hold, at: aMinuteFrom(context.clock.now()) });
    return released;
  }
  const now = context.clock.now();
  const { past } = await changeRecord(context, scope, (record) => decideClose(record, hold.id, now));
  if (past) {
    context.log.info("hold closed", { ...past, holdId: past.id });
    context.metrics.add("ReleaseLagMs", Math.max(0, now.getTime() - past.expiresAt.getTime()));
  }
  return released;
}

/** About a minute later, on the whole minute, so that concurrent invocations create the same one-shot. */
const aMinuteFrom = (now: Date): Date =>
  new Date(Math.ceil(after(now, seconds(30)).getTime() / minutes(1)) * minutes(1));
