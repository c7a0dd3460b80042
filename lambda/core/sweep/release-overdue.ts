import { attemptAll } from "../attempt-all.ts";
import { changeRecord, wholeClusterRecord } from "../holds/change-record.ts";
import { watermarkOf } from "../holds/hold.ts";
import type { Context } from "../ports.ts";
import { armRelease } from "../releases/arm-release.ts";
import { extendWhileUsed } from "../releases/extend-while-used.ts";
import { type Ending, handOver } from "../releases/hand-over.ts";
import { closeRelease, nothingReleased } from "../releases/release-nodes.ts";
import type { Scope } from "../scope.ts";
import { decideSweep, logSweepDecision } from "./decide-sweep.ts";
import { recordedHolds, releaseOrphans } from "./orphaned-marks.ts";
import type { SweepPlan } from "./plan-sweep.ts";

/**
 * Ends every hold that is due, then takes all their marks off in one pass over the marked nodes: a list for each of
 * thousands of holds would take hours. The same pass finds the marks that no hold owns.
 */
export async function releaseOverdue(context: Context, { due, releasing }: SweepPlan): Promise<void> {
  const endings: Ending[] = [...releasing];
  await attemptAll([
    ...due.map(({ scope }) => async () => {
      if (context.clock.now() < context.deadline) endings.push(...(await endHold(context, scope)));
    }),
    () => handOver(context, endings),
    () => releaseMarks(context, endings),
  ]);
}

/** Decides again on the present record; none when the hold goes on. */
async function endHold(context: Context, scope: Scope): Promise<readonly Ending[]> {
  const { rules, clock } = context;
  // A hold that was not due when its use was asked for is not due below either.
  const now = clock.now();
  await extendWhileUsed(context, scope);
  const whole = await wholeClusterRecord(context, scope);
  const decision = await changeRecord(context, scope, (record) =>
    decideSweep({ record, watermark: watermarkOf(record, whole), rules, now }),
  );
  logSweepDecision(context, scope, decision);
  if (decision.action === "leave") return [];
  if (decision.action === "release") return [{ scope, hold: decision.hold }];
  await armRelease(context, { scope, hold: decision.hold, at: decision.armFor });
  return [];
}

async function releaseMarks(context: Context, endings: readonly Ending[]): Promise<void> {
  const { nodes, clock, metrics } = context;
  const marks = await nodes.releaseAll(new Set(endings.map(({ hold }) => hold.id)), context);
  // Read after the nodes: a hold is recorded before its first mark, so a mark seen above has its hold here.
  const recorded = await recordedHolds(context);
  const counts = [...marks.others];
  metrics.add(
    "NodesHeldNow",
    counts.reduce((sum, [id, count]) => sum + (recorded.holdIds.has(id) ? count : 0), 0),
  );
  const closing = endings.map(({ scope, hold }) => async () => {
    // At every sweep, not only when it is closed: marks that cannot be taken off must not be silent.
    metrics.add("ReleaseLagMs", Math.max(0, clock.now().getTime() - hold.expiresAt.getTime()));
    const released = marks.released.get(hold.id) ?? nothingReleased;
    await closeRelease(context, { scope, hold }, { ...released, left: released.left || marks.left });
  });
  const orphans = async () => void (await releaseOrphans(context, [...marks.others.keys()], recorded));
  await attemptAll([...closing, orphans]);
}
