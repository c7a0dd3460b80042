import { attemptAll } from "../errors.ts";
import { closeHold, nothingReleased, sum } from "../holds/end-hold.ts";
import type { Hold } from "../holds/hold.ts";
import type { ReleaseContext, Released } from "../ports.ts";
import type { Scope } from "../scope.ts";

/** A hold that ends now. */
export type Ending = Readonly<{ scope: Scope; hold: Hold }>;

/**
 * Takes the marks of all these holds off, and the marks that no hold owns, in one pass over the marked nodes: a list for
 * each of thousands of holds would take hours.
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
      // At every pass, not only when it is closed: marks that cannot be taken off must not be silent.
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

/** Takes the marks of a hold off that is not recorded. */
async function releaseOrphans(context: ReleaseContext, holdId: string): Promise<Released> {
  const released = await context.nodes.release(holdId, context);
  const count = released.released + released.kept + released.failed;
  // None: their hold was closed between the two reads.
  if (count === 0) return released;
  context.log.warn("marks without a hold taken off", { holdId, ...released });
  context.metrics.add("OrphansFound", count);
  return released;
}
