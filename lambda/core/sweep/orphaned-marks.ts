import { attemptAll } from "../attempt-all.ts";
import type { ReleaseContext, Released, WhatToMark } from "../ports.ts";
import { nothingReleased, sum } from "../releases/release-nodes.ts";
import { isKept } from "../rules.ts";
import { planSweep } from "./plan-sweep.ts";

/** The holds that are recorded, and those that sweeps go on to mark for. */
export type Recorded = Readonly<{ holdIds: ReadonlySet<string>; adopters: readonly WhatToMark[] }>;

/** Takes off all marks that no hold owns. */
export async function releaseOrphanedMarks(context: ReleaseContext): Promise<Released> {
  const marks = await context.nodes.marks([], context);
  // Read after the nodes: a hold is recorded before its first mark, so a mark seen above has its hold here.
  return releaseOrphans(context, [...marks.keys()], await recordedHolds(context));
}

/** Of a record that cannot be read, the hold counts until it expires. */
export async function recordedHolds({ holds, rules, clock }: ReleaseContext): Promise<Recorded> {
  const { records, unreadable } = await holds.all();
  const ofUnreadable = unreadable.flatMap(({ readable: { hold } }) =>
    hold && hold.expiresAt > clock.now() ? hold.id : [],
  );
  const { running } = planSweep(records, { rules, now: clock.now(), next: undefined });
  const kept = running.filter(({ scope }) => isKept(rules, scope));
  return {
    holdIds: new Set([...records.flatMap(({ hold }) => hold?.id ?? []), ...ofUnreadable]),
    adopters: kept.map(({ scope, hold }) => ({ scope, holdId: hold.id })),
  };
}

/**
 * Takes off the marks of those holds that are not recorded. Where a scope is held, a function that did not know yet may
 * have put an ended hold's mark over the present one's: the node must not be without a mark until it is marked again.
 */
export async function releaseOrphans(
  context: ReleaseContext,
  found: readonly string[],
  { holdIds, adopters }: Recorded,
): Promise<Released> {
  let total = nothingReleased;
  const orphans = found.filter((holdId) => !holdIds.has(holdId));
  await attemptAll(
    orphans.map((holdId) => async () => {
      const released = await context.nodes.release({ holdId, adopters }, context);
      total = sum(total, released);
      const count = released.released + released.kept + released.failed;
      // None: their hold was closed between the two reads, or they are left to be adopted.
      if (count === 0) return;
      context.log.warn("marks without a hold taken off", { holdId, ...released });
      context.metrics.add("OrphansFound", count);
    }),
  );
  return total;
}
