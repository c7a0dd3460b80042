import { TryAgainError } from "../errors.ts";
import type { ReleaseContext } from "../ports.ts";
import { type Scope, wholeCluster } from "../scope.ts";
import { emptyRecord, type PastHold, type ScopeRecord } from "./hold.ts";
import { UnreadableRecordError } from "./unreadable.ts";

/** A decision that may want a record written, and a hold kept in history before that. */
type Change = Readonly<{ record?: ScopeRecord | undefined; superseded?: PastHold; past?: PastHold }>;

const tries = 20;

/** Reads, decides, writes; when someone wrote in between, decides anew on what is there now. */
export async function changeRecord<D extends Change>(
  context: ReleaseContext,
  scope: Scope,
  decide: (record: ScopeRecord) => D,
): Promise<D> {
  for (let attempt = 1; attempt <= tries; attempt++) {
    const decision = decide((await context.holds.find(scope)) ?? emptyRecord(scope));
    if (!decision.record) return decision;
    // History first: a crash in between leaves an entry that the same hold's end will overwrite.
    const past = decision.superseded ?? decision.past;
    if (past) await context.journal.remember(past);
    if (await context.holds.write(decision.record)) return decision;
  }
  throw new TryAgainError(`the record of ${scope} was changed by others ${tries} times in a row`);
}

/** A scope's record, or what can be read of it. */
export async function readableRecord(
  context: ReleaseContext,
  scope: Scope,
): Promise<ScopeRecord | undefined> {
  try {
    return await context.holds.find(scope);
  } catch (error) {
    if (!(error instanceof UnreadableRecordError)) throw error;
    context.log.error("a record cannot be read whole", { scope, error });
    return error.readable.rest;
  }
}

/** The record whose watermark counts in every scope; undefined where the scope is the whole cluster itself. */
export const wholeClusterRecord = async (
  context: ReleaseContext,
  scope: Scope,
): Promise<ScopeRecord | undefined> =>
  scope === wholeCluster ? undefined : readableRecord(context, wholeCluster);
