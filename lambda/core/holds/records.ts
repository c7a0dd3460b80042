import { TryAgainError } from "../errors.ts";
import type { ReleaseContext } from "../ports.ts";
import { type Scope, wholeCluster } from "../scope.ts";
import { emptyRecord, type PastHold, type ScopeRecord } from "./hold.ts";

/** A decision: the record to write, and the hold to keep in history before that. */
type Change = Readonly<{ record?: ScopeRecord | undefined; past?: PastHold }>;

const tries = 20;

/** A scope's record; one that cannot be read counts as none, and the next write replaces it. */
export async function findRecord(context: ReleaseContext, scope: Scope): Promise<ScopeRecord> {
  const record = (await context.holds.find(scope)) ?? emptyRecord(scope);
  reportUnreadable(context, record);
  return record;
}

/** Reads, decides, writes. If another function wrote in between, reads and decides again. */
export async function changeRecord<D extends Change>(
  context: ReleaseContext,
  scope: Scope,
  decide: (record: ScopeRecord) => D,
): Promise<D> {
  for (let attempt = 1; attempt <= tries; attempt++) {
    const before = await findRecord(context, scope);
    const decision = decide(before);
    if (!decision.record) return decision;
    // History first: a crash in between leaves an entry that the same hold's end will overwrite.
    if (decision.past) await context.journal.remember(decision.past);
    if (!(await context.holds.write(decision.record))) continue;
    context.events?.note({ before, record: decision.record, past: decision.past });
    return decision;
  }
  throw new TryAgainError(`the record of ${scope} was changed by other functions ${tries} times in a row`);
}

/** The record whose watermark counts in every scope; undefined where the scope is the whole cluster itself. */
export const wholeClusterRecord = async (
  context: ReleaseContext,
  scope: Scope,
): Promise<ScopeRecord | undefined> =>
  scope === wholeCluster ? undefined : findRecord(context, wholeCluster);

/** Only an edit by hand makes a record unreadable. Its content is lost, and the marks of its hold are orphaned. */
export function reportUnreadable({ log, metrics }: ReleaseContext, { scope, unreadable }: ScopeRecord): void {
  if (!unreadable) return;
  log.error("a record cannot be read: it counts as none, and the next write replaces it", {
    scope,
    because: unreadable,
  });
  metrics.add("UnreadableRecords", 1);
}
