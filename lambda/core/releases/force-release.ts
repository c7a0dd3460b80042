import { attemptAll } from "../attempt-all.ts";
import { changeRecord, readableRecord } from "../holds/change-record.ts";
import type { Hold, ScopeRecord } from "../holds/hold.ts";
import { UnreadableRecordError } from "../holds/unreadable.ts";
import type { ReleaseContext, Released } from "../ports.ts";
import { type Scope, wholeCluster } from "../scope.ts";
import { releaseOrphanedMarks } from "../sweep/orphaned-marks.ts";
import { decideForce } from "./decide-release.ts";
import { finishRelease, nothingReleased, type ReleaseAnswer, sum } from "./release-nodes.ts";

/** How a hold is ended by hand: what to write for each record, and why. */
type Ending = (record: ScopeRecord) => Readonly<{ record: ScopeRecord; hold?: Hold; because: string }>;

export type ForceRequest = Readonly<{
  reason: string;
  scope?: Scope | undefined;
  askedAt?: Date | undefined;
  /** The id of an asynchronous invocation; its retries have the same id. */
  id?: string | undefined;
}>;

/** Releases now, whatever the record says; launches up to now bring nothing back. Tried again, it spares what began since its first try. */
export async function forceRelease(
  context: ReleaseContext,
  { reason, scope, askedAt, id }: ForceRequest,
): Promise<ReleaseAnswer> {
  const because = `released by hand: ${reason}`;
  const { forced } = (id && (await readableRecord(context, scope ?? wholeCluster))) || {};
  const since = askedAt ?? (forced?.id === id ? forced?.at : undefined);
  const first = id ? { forced: { id, at: since ?? context.clock.now() } } : {};
  const ending = (record: ScopeRecord) => {
    const decision = decideForce(record, { reason: because, now: context.clock.now(), askedAt: since });
    return { ...decision, record: { ...decision.record, ...first } };
  };
  return endHolds(context, { scope, because, ending });
}

/** Ends the holds of one scope or of all, then removes orphaned marks. */
export async function endHolds(
  context: ReleaseContext,
  { scope, because, ending }: Readonly<{ scope: Scope | undefined; because: string; ending: Ending }>,
): Promise<ReleaseAnswer> {
  const answers: Released[] = [];
  let isNothing = true;
  let whyNothing = "nothing is held";
  const end = async (each: Scope) => {
    const decision = await changeRecord(context, each, ending).catch((error: unknown) =>
      replaceUnreadable(context, error, ending),
    );
    context.log.info("release decided", {
      scope: each,
      action: decision.hold ? "release" : "leave",
      because: decision.because,
    });
    if (!decision.hold) {
      if (decision.record.hold) whyNothing = decision.because;
      return;
    }
    isNothing = false;
    answers.push(await finishRelease(context, each, decision.hold));
  };

  // Of all scopes the whole cluster first: once its watermark is written, no launch before it starts another hold.
  await end(scope ?? wholeCluster);
  if (isEverything(scope)) {
    const others = await otherScopes(context);
    await attemptAll([
      ...others.map((each) => () => end(each)),
      async () => answers.push(await releaseOrphanedMarks(context)),
    ]);
  }
  const total = answers.reduce(sum, nothingReleased);
  const found = total.released + total.kept + total.failed;
  return { ...total, because: isNothing && found === 0 ? whyNothing : because };
}

/** The way out of a record that cannot be read: what can be read of it is kept, its hold ends. */
async function replaceUnreadable(
  context: ReleaseContext,
  error: unknown,
  ending: Ending,
): Promise<ReturnType<Ending>> {
  if (!(error instanceof UnreadableRecordError)) throw error;
  const { rest, hold } = error.readable;
  const decision = ending(rest);
  if (rest.version === 0) await context.holds.replace(decision.record);
  // A function that wrote it meanwhile could read it.
  else if (!(await context.holds.write(decision.record))) return changeRecord(context, rest.scope, ending);
  context.log.warn("a record that could not be read was written anew", { scope: rest.scope, error });
  if (hold && !decision.hold) await context.nodes.release({ holdId: hold.id }, context);
  return decision;
}

/** Naming the whole cluster, or nothing, means every scope there is. */
export const isEverything = (scope: Scope | undefined): boolean =>
  scope === undefined || scope === wholeCluster;

/** All scopes known but that of the whole cluster. */
export async function otherScopes(context: ReleaseContext): Promise<readonly Scope[]> {
  const { records, unreadable } = await context.holds.all();
  const scopes = [...records, ...unreadable.map(({ readable }) => readable.rest)].map(({ scope }) => scope);
  return scopes.filter((scope) => scope !== wholeCluster);
}
