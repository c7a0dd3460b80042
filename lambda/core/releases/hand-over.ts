import { attemptAll } from "../attempt-all.ts";
import { readableRecord } from "../holds/change-record.ts";
import { dueAt, type Hold, type ScopeRecord } from "../holds/hold.ts";
import type { ReleaseContext } from "../ports.ts";
import { isKept } from "../rules.ts";
import { type Scope, wholeCluster } from "../scope.ts";

/**
 * A hold that was begun under another setting of `scope` keeps its nodes until its end. Then the running holds of the
 * present setting take over those nodes that are theirs, so that none is without a mark in between.
 */
export async function handOver(
  context: ReleaseContext,
  ending: Readonly<{ scope: Scope; hold: Hold }>,
): Promise<void> {
  if (isKept(context.rules, ending.scope)) return;
  const running = (await context.holds.all()).records.filter((record) => isRunning(context, record));
  await attemptAll(
    running.map(({ scope, hold }) => async () => {
      if (!isKept(context.rules, scope) || !hold) return;
      const { adopted } = await context.nodes.mark({ scope, holdId: hold.id }, context);
      context.log.info("nodes handed over", { from: ending.hold.id, to: hold.id, adopted });
    }),
  );
}

/** The ids of holds that were begun under another setting of `scope` and have not ended: their marks are not adopted. */
export async function outlastingHolds(context: ReleaseContext): Promise<ReadonlySet<string>> {
  const records =
    context.rules.scope === "cluster"
      ? (await context.holds.all()).records
      : [await readableRecord(context, wholeCluster)].filter((record) => record !== undefined);
  const outlasting = records.filter(
    (record) => !isKept(context.rules, record.scope) && isRunning(context, record),
  );
  return new Set(outlasting.flatMap(({ hold }) => hold?.id ?? []));
}

const isRunning = ({ rules, clock }: ReleaseContext, { hold }: ScopeRecord): boolean =>
  hold?.state === "held" && dueAt(hold, rules) > clock.now();
