import type { Released, ReleasePorts } from "../ports.ts";
import { nothingReleased, sum } from "../releases/release-nodes.ts";

/** How many nodes running holds have marked, and what came of marks that no hold owns. */
export type MarkCounts = Readonly<{ held: number; orphaned: Released }>;

/** Counts the marks of running holds, and takes off all others. */
export async function releaseOrphanedMarks(ports: ReleasePorts, deadline: Date): Promise<MarkCounts> {
  const marks = await ports.nodes.marks([], deadline);
  // Read after the nodes: a hold is recorded before its first mark, so a mark seen above has its hold here.
  const current = new Set((await ports.holds.all()).flatMap((record) => record.hold?.id ?? []));
  let orphaned = nothingReleased;
  let held = 0;
  for (const [holdId, nodes] of marks) {
    if (current.has(holdId)) held += nodes;
    else orphaned = sum(orphaned, await releaseOrphans(ports, holdId, deadline));
  }
  return { held, orphaned };
}

async function releaseOrphans(ports: ReleasePorts, holdId: string, deadline: Date): Promise<Released> {
  const released = await ports.nodes.release(holdId, deadline);
  const found = released.released + released.kept + released.failed;
  // None: their hold was closed between the two reads.
  if (found === 0) return released;
  ports.log.warn("marks without a hold taken off", { holdId, ...released });
  ports.metrics.add("OrphansFound", found);
  return released;
}
