import type { ReleaseContext, Released } from "../ports.ts";
import { nothingReleased, sum } from "../releases/release-nodes.ts";

/** How many nodes running holds have marked, and what came of marks that no hold owns. */
export type MarkCounts = Readonly<{ held: number; orphaned: Released }>;

/** Counts the marks of running holds, and takes off all others. */
export async function releaseOrphanedMarks(context: ReleaseContext): Promise<MarkCounts> {
  const marks = await context.nodes.marks([], context);
  // Read after the nodes: a hold is recorded before its first mark, so a mark seen above has its hold here.
  const current = new Set((await context.holds.all()).flatMap((record) => record.hold?.id ?? []));
  let orphaned = nothingReleased;
  let held = 0;
  for (const [holdId, nodes] of marks) {
    if (current.has(holdId)) held += nodes;
    else orphaned = sum(orphaned, await releaseOrphans(context, holdId));
  }
  return { held, orphaned };
}

async function releaseOrphans(context: ReleaseContext, holdId: string): Promise<Released> {
  const released = await context.nodes.release(holdId, context);
  const found = released.released + released.kept + released.failed;
  // None: their hold was closed between the two reads.
  if (found === 0) return released;
  context.log.warn("marks without a hold taken off", { holdId, ...released });
  context.metrics.add("OrphansFound", found);
  return released;
}
