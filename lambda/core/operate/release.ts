import { after, type Duration, earlier, latest, seconds } from "../duration.ts";
import { attemptAll, BadInputError, withMore } from "../errors.ts";
import { nothingChanged } from "../plan-nodes.ts";
import type { Changed, PassContext } from "../ports.ts";
import { describeQuiet, isPossible, silenceOf, usualPause } from "../quiet.ts";
import { type Outcome, reconcile, type Trigger } from "../reconcile.ts";
import type { Quiet, ReleasedByHand, ScopeRecord } from "../record.ts";
import { isOn, withoutRequest } from "../requests.ts";
import { type Scope, wholeCluster } from "../scope.ts";
import { reconcileAll } from "../sweep.ts";
import { checkScope } from "./check-scope.ts";

/** What a release did, and why. `until` is when the scope's nodes are released at the latest, where something else holds them. */
export type ReleaseAnswer = Pick<Changed, "released" | "kept" | "failed" | "left"> &
  Readonly<{ because: string; heldUntil?: Date }>;

/** Handles a one-shot: a pass over its scope. */
export async function releaseDue(context: PassContext, scope: Scope): Promise<ReleaseAnswer> {
  return answerOf(await reconcile(context, scope, { isLook: true }));
}

export type ForceRequest = Readonly<{
  reason: string;
  scope?: Scope | undefined;
  /** When it was asked for; a late one spares what began since. */
  askedAt?: Date | undefined;
  /** The id of an asynchronous invocation; its retries have the same id, and spare what began since the first that was recorded. */
  id?: string | undefined;
}>;

/** Releases now: everything that was asked for before, and launches up to now, hold nothing any more. */
export async function forceRelease(context: PassContext, request: ForceRequest): Promise<ReleaseAnswer> {
  const { reason, scope, askedAt, id } = request;
  await checkScope(context, { operation: "release", scope: scope ?? wholeCluster });
  const change = (record: ScopeRecord, now: Date): ScopeRecord => {
    const { released } = record;
    if (released && id !== undefined && released.by === id) return record;
    const at = earlier(askedAt ?? now, now);
    if (released && released.at >= at && isPossible(released.at, now)) return record;
    return { ...record, released: { at, because: reason, ...byOf(id ?? released?.by) } };
  };
  return everywhere(context, { scope, change, because: `released by hand: ${reason}` });
}

/** The last invocation whose retries must spare what began since, also where others have released meanwhile. */
const byOf = (id: string | undefined): Pick<ReleasedByHand, "by"> => (id === undefined ? {} : { by: id });

/** Ends one request; the scope stays held as long as anything else holds it. */
export async function releaseRequest(
  context: PassContext,
  { name, scope }: Readonly<{ name: string; scope: Scope }>,
): Promise<ReleaseAnswer> {
  await checkScope(context, { operation: "release", scope });
  let names: readonly string[] = [];
  let isFound = false;
  const change = (record: ScopeRecord, now: Date): ScopeRecord => {
    const { requests } = record;
    names = requests.filter((one) => isOn(one, now)).map((one) => one.name);
    isFound = requests.some((one) => one.name === name && one.until > now);
    return names.includes(name) ? { ...record, requests: withoutRequest(requests, name, now) } : record;
  };
  const outcome = await reconcile(context, scope, { change });
  // Also one that was released before: the answer to the first try may have been lost.
  if (isFound) return answerOf(outcome, `request ${name} was released`);
  const present = names.length > 0 ? `requests: ${names.join(", ")}` : "there is no request";
  throw new BadInputError("Cannot release", [`no request ${name} in ${scope}; ${present}`]);
}

/** Releases now, and holds nothing until then, or until an operator resumes. */
export async function pause(
  context: PassContext,
  request: Readonly<{ for?: Duration | undefined; reason: string; scope?: Scope | undefined }>,
): Promise<ReleaseAnswer & Readonly<{ until: Date }>> {
  const { reason, scope, for: length = usualPause } = request;
  await checkScope(context, { operation: "pause", scope: scope ?? wholeCluster });
  const until = after(context.clock.now(), length);
  const change = (record: ScopeRecord, now: Date): ScopeRecord => {
    const { quiet: before } = record;
    // A pause that is asked for again keeps its start; the last one counts.
    const goesOn = before?.kind === "paused" && before.until > now && isPossible(before.since, now);
    const quiet: Quiet = { kind: "paused", since: goesOn ? before.since : now, until, because: reason };
    return { ...record, quiet };
  };
  const because = `paused by hand: ${reason}`;
  const answer = await everywhere(context, { scope, change, because }).catch((error: unknown) => {
    const lasts = `if the pause was recorded, it lasts until ${until.toISOString()}`;
    throw withMore(error, `${lasts}: \`status\` shows it, and \`resume\` ends it`);
  });
  return { ...answer, because, until };
}

/** What was resumed, and whether the scope is paused all the same, as part of the whole cluster. */
export type ResumeAnswer = Pick<Changed, "failed" | "left"> &
  Readonly<{ resumed: readonly Scope[]; isPaused?: true; because: string }>;

/** Lets requests hold again, and launches count from now on. */
export async function resume(context: PassContext, scope: Scope | undefined): Promise<ResumeAnswer> {
  await checkScope(context, { operation: "resume", scope: scope ?? wholeCluster });
  const resumed = new Set<Scope>();
  const changes: Changed[] = [];
  let because = "nothing was paused";
  const resumeOne = async (each: Scope) => {
    const change = (record: ScopeRecord, now: Date): ScopeRecord => {
      const { quiet } = record;
      if (!quiet || quiet.until <= now) return record;
      resumed.add(each);
      because = quiet.kind === "breather" ? "the breather is cut short" : "the pause is over";
      // The clock that began it may have been ahead, or wrong.
      return { ...record, quiet: { ...quiet, since: earlier(quiet.since, now), until: now } };
    };
    changes.push((await reconcile(context, each, { change })).changed);
  };
  // A scope whose nodes or looks fail does not keep the others paused.
  const scopes = await scopesOf(context, scope);
  await attemptAll(scopes.map((each) => () => resumeOne(each))).catch((error: unknown) => {
    throw withMore(
      error,
      "what was recorded is resumed: `status` shows it, and the next sweep holds its nodes",
    );
  });
  const failed = changes.reduce((sum, one) => sum + one.failed, 0);
  const answer = { resumed: [...resumed], failed, left: changes.some(({ left }) => left) };
  const whole = await context.holds.find(wholeCluster);
  const silence = whole && silenceOf(whole, undefined, context.clock.now());
  if (silence?.quiet?.kind !== "paused") return { ...answer, because };
  because = `the whole cluster is still ${describeQuiet(silence.quiet)}: resume it`;
  return { ...answer, isPaused: true, because };
}

/** The scope that an operator names, or all that have a record: sorted by name, so the whole cluster comes first. */
async function scopesOf({ holds }: PassContext, scope: Scope | undefined): Promise<readonly Scope[]> {
  if (scope !== undefined && scope !== wholeCluster) return [scope];
  const { records } = await holds.all();
  return records.map((record) => record.scope);
}

type Everywhere = Pick<Trigger, "change"> & Readonly<{ scope: Scope | undefined; because: string }>;

/** Changes the record that an operator names. What counts for the whole cluster counts in every scope, so all are looked at. */
async function everywhere(context: PassContext, asked: Everywhere): Promise<ReleaseAnswer> {
  const { scope = wholeCluster, change, because } = asked;
  if (scope !== wholeCluster) return answerOf(await reconcile(context, scope, { change }));
  // The other scopes do not wait for nodes or looks that fail this one.
  const own = await reconcile(context, scope, { change }).catch((error: unknown) => ({ error }));
  const { outcomes, isLeft, orphaned } = await reconcileAll(context).catch((error: unknown) => {
    // What there was no time for is no failure: the sweep goes on.
    const isLate = after(context.clock.now(), seconds(1)) >= context.deadline;
    if ("error" in own || !(isLate || own.changed.left)) throw error;
    return { outcomes: [], isLeft: true, orphaned: nothingChanged };
  });
  if ("error" in own) throw own.error;
  const ended = [own, ...outcomes].find(({ dueAt, record }) => dueAt ?? record.hold?.ended);
  // Nodes that failed the first pass were tried again by the second one, if that had the time.
  const isAgain = outcomes.some(({ record }) => record.scope === scope);
  const all = [
    { ...own.changed, ...(isAgain && { failed: 0, left: false }) },
    ...outcomes.map(({ changed }) => changed),
    orphaned,
  ];
  const total = (name: "released" | "kept" | "failed") => all.reduce((sum, one) => sum + one[name], 0);
  const [released, kept, failed] = [total("released"), total("kept"), total("failed")];
  // Of what has begun since.
  const heldUntil = latest([own, ...outcomes].flatMap(({ until }) => until ?? []));
  const isNothing = released + kept + failed === 0 && !heldUntil;
  const why = ended?.because ?? (isNothing ? "nothing is held" : because);
  const left = isLeft || all.some((one) => one.left);
  return { released, kept, failed, left, because: why, ...(heldUntil && { heldUntil }) };
}

function answerOf({ changed, because, until }: Outcome, why = because): ReleaseAnswer {
  const { released, kept, failed, left } = changed;
  return { released, kept, failed, left, because: why, ...(until && { heldUntil: until }) };
}
