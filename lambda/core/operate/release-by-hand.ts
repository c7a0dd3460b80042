import { after, type Duration, earlier, later } from "../duration.ts";
import { attemptAll, withMore } from "../errors.ts";
import { decideEnd, endHold, nothingReleased } from "../holds/end-hold.ts";
import type { Hold, ScopeRecord } from "../holds/hold.ts";
import { unwatched } from "../holds/learning.ts";
import { changeRecord, findRecord, wholeClusterRecord } from "../holds/records.ts";
import {
  countingFrom,
  isPaused,
  silenced,
  untilResumed,
  watermarkOf,
  withoutLaunchAhead,
} from "../holds/watermark.ts";
import type { ReleaseContext, Released } from "../ports.ts";
import { type Ending, endHolds } from "../releases/end-holds.ts";
import type { ReleaseAnswer } from "../releases/release.ts";
import { type Scope, wholeCluster } from "../scope.ts";
import { checkScope } from "./check-scope.ts";

export type ForceRequest = Readonly<{
  reason: string;
  scope?: Scope | undefined;
  askedAt?: Date | undefined;
  /** The id of an asynchronous invocation; its retries have the same id. */
  id?: string | undefined;
}>;

/** Releases now; launches up to now start no other hold. A retry spares holds that began after the first try. */
export async function forceRelease(
  context: ReleaseContext,
  { reason, scope, askedAt, id }: ForceRequest,
): Promise<ReleaseAnswer> {
  await checkScope(context, { operation: "release", scope: scope ?? wholeCluster });
  const because = `released by hand: ${reason}`;
  const { forced } = id ? await findRecord(context, scope ?? wholeCluster) : {};
  const since = askedAt ?? (id !== undefined && forced?.id === id ? forced.at : undefined);
  const first = id ? { forced: { id, at: since ?? context.clock.now() } } : {};
  const decide = (record: ScopeRecord) => {
    const decision = decideForce(record, { reason: because, now: context.clock.now(), askedAt: since });
    return { ...decision, record: { ...decision.record, ...first } };
  };
  return releaseByHand(context, { scope, because, decide });
}

/** Releases now, and holds nothing until then, or until an operator resumes. */
export async function pause(
  context: ReleaseContext,
  request: Readonly<{ for?: Duration | undefined; reason: string; scope?: Scope | undefined }>,
): Promise<ReleaseAnswer & Readonly<{ until: Date | undefined }>> {
  await checkScope(context, { operation: "pause", scope: request.scope ?? wholeCluster });
  const until = request.for === undefined ? untilResumed : after(context.clock.now(), request.for);
  const because = `paused by hand: ${request.reason}`;
  const lasts = request.for === undefined ? "until resumed" : `until ${until.toISOString()}`;
  const recorded = `the pause is recorded ${lasts}: the next sweep releases its nodes, and \`resume\` ends it`;
  // A pause of everything is kept in the whole cluster's record, so that it counts also for scopes without a record.
  const decide = (record: ScopeRecord) =>
    decidePause(record, { until, reason: request.reason, now: context.clock.now() });
  const answer = await releaseByHand(context, { scope: request.scope, because, decide, recorded });
  return { ...answer, because, until: request.for === undefined ? undefined : until };
}

/** Lets launches count again from now on. */
export async function resume(
  context: ReleaseContext,
  scope: Scope | undefined,
): Promise<Readonly<{ resumed: Scope[]; because: string }>> {
  await checkScope(context, { operation: "resume", scope: scope ?? wholeCluster });
  const resumed: Scope[] = [];
  let because = "nothing was paused";
  for (const each of [scope ?? wholeCluster, ...(await scopesBeside(context, scope))]) {
    const decision = await changeRecord(context, each, (record) => decideResume(record, context.clock.now()));
    context.log.info("resume decided", { scope: each, action: decision.action, because: decision.because });
    if (decision.action === "leave") continue;
    resumed.push(each);
    because = decision.because;
  }
  const whole = scope && (await wholeClusterRecord(context, scope));
  if (whole && isPaused(watermarkOf(whole), context.clock.now()))
    because = "the whole cluster is still paused: resume it";
  return { resumed, because };
}

/** The other scopes that have a record; none when the operator names a NodePool. */
async function scopesBeside(context: ReleaseContext, scope: Scope | undefined): Promise<readonly Scope[]> {
  if (scope !== undefined && scope !== wholeCluster) return [];
  const { records } = await context.holds.all();
  return records.map((record) => record.scope).filter((each) => each !== wholeCluster);
}

type ByHand = Readonly<{
  scope: Scope | undefined;
  because: string;
  /** What to write, and why. */
  decide: (record: ScopeRecord) => Readonly<{ record: ScopeRecord; hold?: Hold; because: string }>;
  /** What an error says that comes when the first scope is written. */
  recorded?: string;
}>;

/** Ends the holds of one scope, or of all, and then removes all of their marks. */
async function releaseByHand(
  context: ReleaseContext,
  { scope, because, decide, recorded }: ByHand,
): Promise<ReleaseAnswer> {
  const endings: Ending[] = [];
  let whyNothing = "nothing is held";
  const end = async (each: Scope) => {
    const decision = await changeRecord(context, each, decide);
    const action = decision.hold ? "release" : "leave";
    context.log.info("release decided", { scope: each, action, because: decision.because });
    if (decision.hold) endings.push({ scope: each, hold: decision.hold });
    else if (decision.record.hold) whyNothing = decision.because;
  };
  // The whole cluster comes first: once its watermark is written, no earlier launch starts another hold.
  await end(scope ?? wholeCluster);
  const release = async () => {
    const beside = await scopesBeside(context, scope);
    let released = nothingReleased;
    await attemptAll([
      ...beside.map((each) => () => end(each)),
      async () => {
        released = await removeMarks(context, scope, endings);
      },
    ]);
    return released;
  };
  const released = await release().catch((error: unknown) => {
    throw recorded ? withMore(error, recorded) : error;
  });
  const found = released.released + released.kept + released.failed;
  return { ...released, because: endings.length === 0 && found === 0 ? whyNothing : because };
}

async function removeMarks(
  context: ReleaseContext,
  scope: Scope | undefined,
  endings: readonly Ending[],
): Promise<Released> {
  const [only] = endings;
  if (scope === undefined || scope === wholeCluster) return endHolds(context, endings);
  return only ? endHold(context, only) : nothingReleased;
}

type ForceFacts = Readonly<{ reason: string; now: Date; askedAt?: Date | undefined }>;

/**
 * Ends the present hold by hand. A pause stays a pause, and launches that are delivered late start no hold.
 * With `askedAt` the release may be late itself: it ends only a hold that began before.
 */
export function decideForce(record: ScopeRecord, { reason, now, askedAt }: ForceFacts) {
  const { hold } = record;
  const from = askedAt ? earlier(askedAt, now) : now;
  const isSilent = record.launchesCountFrom !== undefined && record.launchesCountFrom > from;
  const past = withoutLaunchAhead(unwatched(record, now), now);
  const next = isSilent ? past : countingFrom(past, from);
  if (!hold) return { action: "note" as const, record: next, because: "nothing is held" };
  if (askedAt && hold.startedAt >= from && hold.causedAt >= from) {
    const because = "the hold began after the release was requested";
    return { action: "note" as const, record: next, because };
  }
  if (hold.state === "releasing") return { action: "release" as const, hold, record: next, because: reason };
  const ended = decideEnd(next, hold, { because: reason, isCut: true }, now);
  return { action: "release" as const, hold: ended.hold, record: ended, because: reason };
}

/** Pauses until then: the present hold ends, and launches meanwhile never count. The last request counts. */
export function decidePause(
  record: ScopeRecord,
  { until, reason, now }: Readonly<{ until: Date; reason: string; now: Date }>,
) {
  const forced = decideForce(record, { reason: `paused by hand: ${reason}`, now });
  const before = watermarkOf(record);
  const from = before.quiet?.kind === "breather" ? later(until, before.from) : until;
  // A pause that is requested again keeps its start.
  const since = before.quiet && isPaused(before, now) ? before.quiet.since : now;
  return { ...forced, record: silenced(forced.record, from, { kind: "paused", since, because: reason }) };
}

/** Ends a pause or a breather: launches count from now on. */
export function decideResume(record: ScopeRecord, now: Date) {
  const from = record.launchesCountFrom;
  // Without a reason this is no silence, but a release by force whose clock was ahead.
  if (!from || from <= now || !record.quiet)
    return { action: "leave" as const, because: "nothing was paused" };
  const because = record.quiet.kind === "breather" ? "the breather is cut short" : "the pause is over";
  return { action: "resume" as const, record: countingFrom(record, now), because };
}
