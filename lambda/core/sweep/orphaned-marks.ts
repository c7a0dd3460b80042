import { attemptAll } from "../attempt-all.ts";
import type { ReleaseContext, Released } from "../ports.ts";
import { nothingReleased, sum } from "../releases/release-nodes.ts";

/** Takes off all marks that no hold owns. */
export async function releaseOrphanedMarks(context: ReleaseContext): Promise<Released> {
  const marks = await context.nodes.marks([], context);
  // Read after the nodes: a hold is recorded before its first mark, so a mark seen above has its hold here.
  const running = await runningHolds(context);
  let released = nothingReleased;
  const orphans = [...marks.keys()].filter((id) => !running.has(id));
  await attemptAll(
    orphans.map((id) => async () => {
      released = sum(released, await releaseOrphans(context, id));
    }),
  );
  return released;
}

/** The holds whose marks stay; of a record that cannot be read, the hold until it expires. */
export async function runningHolds({ holds, clock }: ReleaseContext): Promise<ReadonlySet<string>> {
  const { records, unreadable } = await holds.all();
  return new Set([
    ...records.flatMap(({ hold }) => hold?.id ?? []),
    ...unreadable.flatMap(({ readable: { hold } }) => (hold && hold.expiresAt > clock.now() ? hold.id : [])),
  ]);
}

export async function releaseOrphans(context: ReleaseContext, holdId: string): Promise<Released> {
  const released = await context.nodes.release(holdId, context);
  const found = released.released + released.kept + released.failed;
  // None: their hold was closed between the two reads.
  if (found === 0) return released;
  context.log.warn("marks without a hold taken off", { holdId, ...released });
  context.metrics.add("OrphansFound", found);
  return released;
}
