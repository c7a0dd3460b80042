import { attemptAll } from "../errors.ts";
import { closeHold, nothingReleased, sum } from "../holds/end-hold.ts";
import type { Hold } from "../holds/hold.ts";
import type { ReleaseContext, Released } from "../ports.ts";
import type { Scope } from "../scope.ts";

/** A hold that ends now. */
export type Ending = Readonly<{ scope: Scope; hold: Hold }>;

/**
 * Removes the marks of all these holds, and orphaned marks, in one pass over the marked nodes: one list for each of
 * thousands of holds would take hours.
 */
export async function endHolds(context: ReleaseContext, endings: readonly Ending[]): Promise<Released> {
  const { nodes, clock, metrics } = context;
  const marks = await nodes.releaseAll(new Set(endings.map(({ hold }) => hold.id)), context);
  // Read after the nodes: a hold is recorded before its first mark, so a mark seen above has its hold here.
  const { records } = await context.holds.all();
  const recorded = new Set(records.flatMap(({ hold }) => hold?.id ?? []));
  const owned = [...marks.others].filter(([holdId]) => recorded.has(holdId));
  metrics.add(
    "NodesHeldNow",
    owned.reduce((total, [, count]) => total + count, 0),
  );
  let total = nothingReleased;
  await attemptAll([
    ...endings.map(({ scope, hold }) => async () => {
      // Emitted at every pass, not only when the hold is closed, so that marks that cannot be removed are noticed.
      metrics.add("ReleaseLagMs", Math.max(0, clock.now().getTime() - hold.expiresAt.getTime()));
      const released = marks.released.get(hold.id) ?? nothingReleased;
      const left = released.left || marks.left;
      total = sum(total, await closeHold(context, { scope, hold }, { ...released, left }));
    }),
    ...[...marks.others.keys()].map((holdId) => async () => {
      if (!recorded.has(holdId)) total = sum(total, await releaseOrphans(context, holdId));
    }),
  ]);
  return total;
}

/** Removes the marks of a hold that no record names. */
async function releaseOrphans(context: ReleaseContext, holdId: string): Promise<Released> {
  const released = await context.nodes.release(holdId, context);
  const count = released.released + released.kept + released.failed;
  // None: their hold was closed between the two reads.
  if (count === 0) return released;
  context.log.warn("orphaned marks removed", { holdId, ...released });
  context.metrics.add("OrphansFound", count);
  return released;
}
