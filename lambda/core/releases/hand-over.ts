import { attemptAll } from "../attempt-all.ts";
import { readableRecord } from "../holds/change-record.ts";
import { dueAt, type Hold, type ScopeRecord } from "../holds/hold.ts";
import { UnreadableRecordError } from "../holds/unreadable.ts";
import type { ReleaseContext } from "../ports.ts";
import { isKept } from "../rules.ts";
import { type Scope, wholeCluster } from "../scope.ts";

/** A hold that ends now. */
export type Ending = Readonly<{ scope: Scope; hold: Hold }>;

/**
 * Where a hold ends, the running ones that also protect its nodes take them over, so that none is without a mark in
 * between. While the setting `scope` changes, holds of the whole cluster and of single NodePools run side by side, each
 * until its end; the own setting does not matter, because functions of both settings may be at work. The next hold of
 * the same scope may have begun already, and lost nodes to a function that still marked for the ended one.
 */
export async function handOver(context: ReleaseContext, endings: readonly Ending[]): Promise<void> {
  if (endings.length === 0) return;
  const ending = new Set(endings.map(({ hold }) => hold.id));
  const adopts = (holdId: string) => ending.has(holdId);
  const records = await recordsOf(context, endings);
  await attemptAll(
    records.map(({ scope, hold }) => async () => {
      if (!isRunning(context, hold) || ending.has(hold.id)) return;
      if (!endings.some((from) => scope === from.scope || isBeside(scope, from.scope))) return;
      const { marked, adopted } = await context.nodes.mark({ scope, holdId: hold.id, adopts }, context);
      context.log.info("nodes handed over", { endings: ending.size, to: hold.id, adopted });
      if (marked + adopted > 0) await takeBack(context, scope, hold.id);
    }),
  );
}

/** The records in which there may be a hold that protects nodes of these. */
async function recordsOf(
  context: ReleaseContext,
  [first, ...others]: readonly Ending[],
): Promise<readonly ScopeRecord[]> {
  if (!first || others.length > 0 || first.scope === wholeCluster) return (await context.holds.all()).records;
  const own = await readableRecord(context, first.scope);
  return [...(await clusterRecord(context)), ...(own ? [own] : [])];
}

/** Marks put for a hold that ended meanwhile do not stay. */
async function takeBack(context: ReleaseContext, scope: Scope, holdId: string): Promise<void> {
  let present: Hold | undefined;
  try {
    present = (await context.holds.find(scope))?.hold;
  } catch (error) {
    if (!(error instanceof UnreadableRecordError)) throw error;
    // It may go on: sweeps count it until it expires.
    context.log.error("a record cannot be read whole", { scope, error });
    return;
  }
  const held = present?.state === "held" ? present : undefined;
  if (held?.id === holdId) return;
  const adopters = held ? [{ scope, holdId: held.id }] : [];
  await context.nodes.release({ holdId, adopters }, context);
}

/** Whether holds of two scopes can share nodes: one is the whole cluster's, the other a NodePool's. */
const isBeside = (one: Scope, other: Scope): boolean => (one === wholeCluster) !== (other === wholeCluster);

/** The ids of holds that were begun under another setting of `scope` and have not ended: their marks are not adopted. */
export async function outlastingHolds(context: ReleaseContext): Promise<ReadonlySet<string>> {
  const records =
    context.rules.scope === "cluster" ? (await context.holds.all()).records : await clusterRecord(context);
  const others = records.filter(({ scope }) => !isKept(context.rules, scope));
  return new Set(others.flatMap(({ hold }) => (isRunning(context, hold) ? hold.id : [])));
}

const clusterRecord = async (context: ReleaseContext): Promise<readonly ScopeRecord[]> =>
  [await readableRecord(context, wholeCluster)].filter((record) => record !== undefined);

const isRunning = ({ rules, clock }: ReleaseContext, hold: Hold | undefined): hold is Hold =>
  hold?.state === "held" && dueAt(hold, rules) > clock.now();
