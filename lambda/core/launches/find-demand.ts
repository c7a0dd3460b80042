import { after, type Duration, earlier, hours, minutes, seconds } from "../duration.ts";
import { BrokenSetupError } from "../errors.ts";
import type { RememberedReplacement, ScopeRecord } from "../holds/hold.ts";
import { changeRecord, findRecord } from "../holds/records.ts";
import type { Context, Launch, Replacement, Unavailable } from "../ports.ts";
import { reportLimit } from "../report-limit.ts";
import type { Rules } from "../rules.ts";
import type { Scope } from "../scope.ts";

/** The launches of one scope by what Karpenter made them for. */
export type Judged = Readonly<{
  demand: readonly Launch[];
  replacements: readonly Launch[];
  unknown: readonly Launch[];
}>;

/** A NodeClaim may be this much older than its launch: without a cloud, a launch dates from when its node joined. */
const nodeClaimIsOlderBy: Duration = minutes(20);
/** Where nodes are replaced, all NodeClaims are read: for 5,000 of them that is 45 MB. */
const timeLimit: Duration = seconds(15);

/** Separates demand from replacements, and remembers these. */
export async function findDemand(
  context: Context,
  {
    scope,
    launches,
    firstSeenAt,
  }: Readonly<{ scope: Scope; launches: readonly Launch[]; firstSeenAt: Date }>,
): Promise<Judged> {
  if (context.rules.replacements === "hold") return { demand: launches, replacements: [], unknown: [] };
  const record = await findRecord(context, scope);
  const remembered = rememberedReplacements(record, context.rules);
  const isNew = (launch: Launch) => !remembered.has(launch.instance);
  // Read the clock before the events: Karpenter may write an event after they were read.
  const now = context.clock.now();
  const replacements = launches.some(isNew) ? await readReplacements(context, record, launches) : [];
  const facts = { remembered, replacements, judgeableFrom: judgeableFrom(record, now), firstSeenAt, now };
  const verdicts = new Map(launches.map((launch) => [launch, judgeLaunch(launch, facts)]));
  const ofKind = (kind: Verdict["kind"]) => launches.filter((launch) => verdicts.get(launch)?.kind === kind);

  logVerdicts(context, scope, launches.filter(isNew), verdicts);
  await rememberAll(context, scope, ofKind("replacement").filter(isNew), replacements);
  return {
    demand: ofKind("demand"),
    replacements: ofKind("replacement"),
    unknown: ofKind("unknown yet"),
  };
}

async function readReplacements(
  context: Context,
  record: ScopeRecord,
  launches: readonly Launch[],
): Promise<readonly Replacement[] | Unavailable | "no answer"> {
  const oldest = launches.map(({ launchedAt }) => launchedAt).reduce(earlier);
  const known = new Set(record.replacements?.flatMap(({ nodeClaim }) => nodeClaim ?? []));
  const deadline = earlier(context.deadline, after(context.clock.now(), timeLimit));
  try {
    const found = await context.nodeClaims.replacements(after(oldest, -nodeClaimIsOlderBy), known, {
      ...context,
      deadline,
    });
    if ("unavailable" in found) reportLimit(context, found);
    return found;
  } catch (error) {
    context.log.warn("Karpenter's events could not be read", { error });
    return error instanceof BrokenSetupError ? { unavailable: error.message } : "no answer";
  }
}

function logVerdicts(
  { log }: Context,
  scope: Scope,
  launches: readonly Launch[],
  verdicts: ReadonlyMap<Launch, Verdict>,
): void {
  const reasons = Map.groupBy(launches, (launch) => JSON.stringify(verdicts.get(launch)));
  for (const [reason, ofReason] of reasons) {
    const { kind, because }: Verdict = JSON.parse(reason);
    const instances = ofReason.map(({ instance }) => instance);
    log.info("launch judged", { scope, kind, because, instances });
  }
}

/** Karpenter writes the event of a replacement at most about a second after its instance exists. */
export const eventDelay: Duration = seconds(2);
/** An instance without a known NodeClaim counts as demand after this time. */
export const doubtEndsAfter: Duration = minutes(1);

/** Whether Karpenter launched for waiting pods, and how we know. */
export type Verdict = Readonly<{
  kind: "demand" | "replacement" | "unknown yet" | "too old to judge";
  because: string;
}>;

export const wasRecognised = "it was recognised as a replacement before";

export type JudgeFacts = Readonly<{
  /** Instances that were recognised as replacements before; their events may have expired since. */
  remembered: ReadonlySet<string>;
  /** What Karpenter's events name as replacements now; `no answer` where it could not be read this time. */
  replacements: readonly Replacement[] | Unavailable | "no answer";
  /** Earlier launches may be replacements that were forgotten. */
  judgeableFrom?: Date | undefined;
  firstSeenAt: Date;
  now: Date;
}>;

/** In doubt a launch is demand: a needless hold costs minutes of a node, a missing one costs the work on it. */
export function judgeLaunch(launch: Launch, facts: JudgeFacts): Verdict {
  const { remembered, replacements } = facts;
  if (remembered.has(launch.instance)) {
    return { kind: "replacement", because: wasRecognised };
  }
  if (facts.judgeableFrom && launch.launchedAt < facts.judgeableFrom) {
    const because = "Karpenter's event about it has expired, and as old replacements are forgotten";
    return { kind: "too old to judge", because };
  }
  const age = ageOf(launch, facts);
  if (replacements === "no answer") return inDoubt(age, "Karpenter's events could not be read");
  if ("unavailable" in replacements) return { kind: "demand", because: replacements.unavailable };

  const own = replacements.find(({ instance }) => instance === launch.instance);
  if (own?.isForMore) {
    const because = `NodeClaim ${own.nodeClaim} replaces other nodes, but pods wait, too: Karpenter asked for more than those have room for`;
    return { kind: "demand", because };
  }
  if (own) {
    const because = `Karpenter launched NodeClaim ${own.nodeClaim} to replace other nodes`;
    return { kind: "replacement", because };
  }
  if (age < eventDelay) {
    return { kind: "unknown yet", because: "Karpenter's event of a replacement may still be on its way" };
  }
  const open = replacements.find(({ instance }) => instance === undefined);
  if (!open) return { kind: "demand", because: "no event names it as a replacement" };
  return inDoubt(age, `replacement ${open.nodeClaim} has no instance yet`);
}

const inDoubt = (age: Duration, because: string): Verdict =>
  age < doubtEndsAfter
    ? { kind: "unknown yet", because }
    : { kind: "demand", because: `in doubt: ${because}` };

/** When to judge a launch again that is unknown yet. */
export const judgeAgainAfter = (launch: Launch, facts: Pick<JudgeFacts, "firstSeenAt" | "now">): Duration => {
  const age = ageOf(launch, facts);
  return age < eventDelay ? eventDelay - age : seconds(5);
};

/** The clocks of cloud and function may differ, but an event that arrived two seconds ago is two seconds old. */
const ageOf = (
  { launchedAt }: Launch,
  { firstSeenAt, now }: Pick<JudgeFacts, "firstSeenAt" | "now">,
): Duration => now.getTime() - Math.min(launchedAt.getTime(), firstSeenAt.getTime());

async function rememberAll(
  context: Context,
  scope: Scope,
  launches: readonly Launch[],
  found: readonly Replacement[] | Unavailable | "no answer",
): Promise<void> {
  if (launches.length === 0) return;
  const named = Array.isArray(found) ? found : [];
  const replacements = launches.map(({ instance, launchedAt }) => {
    const nodeClaim: string | undefined = named.find((one) => one.instance === instance)?.nodeClaim;
    return { instance, launchedAt, ...(nodeClaim && { nodeClaim }) };
  });
  context.metrics.add("ReplacementsIgnored", launches.length);
  await changeRecord(context, scope, (record) => ({
    record: remember(record, replacements, context.clock.now()),
  }));
}

/** A record keeps this many and forgets older ones. */
export const mostRemembered = 500;
/** A cluster keeps an event for an hour, and a launch may be dated later than its NodeClaim's event. */
const eventsNameFor: Duration = hours(1) - nodeClaimIsOlderBy;
/** Longer than any hold with any settings: a launch of that age may be found, or delivered again. */
const rememberedFor: Duration = hours(25);

/** The instances that never count as demand, even when Karpenter's events no longer name them. */
export const rememberedReplacements = (
  { replacements = [] }: ScopeRecord,
  rules: Pick<Rules, "replacements">,
): ReadonlySet<string> =>
  new Set(rules.replacements === "ignore" ? replacements.map(({ instance }) => instance) : []);

/** From when launches can be judged by what the record remembers or by Karpenter's events; undefined: all can. */
function judgeableFrom({ replacements = [] }: ScopeRecord, now: Date): Date | undefined {
  if (replacements.length < mostRemembered) return undefined;
  return replacements.map(({ launchedAt }) => launchedAt).reduce(earlier, after(now, -eventsNameFor));
}

/** The record that remembers these replacements, so that none starts a hold when its event has expired. */
export function remember(
  record: ScopeRecord,
  replacements: readonly RememberedReplacement[],
  now: Date,
): ScopeRecord | undefined {
  const known = new Set(record.replacements?.map(({ instance }) => instance));
  const added = replacements.filter(({ instance }) => !known.has(instance));
  if (added.length === 0) return undefined;
  const oldest = after(now, -rememberedFor);
  const kept = [...(record.replacements ?? []), ...added]
    .filter(({ launchedAt }) => launchedAt > oldest)
    .toSorted((a, b) => a.launchedAt.getTime() - b.launchedAt.getTime())
    .slice(-mostRemembered);
  return { ...record, replacements: kept };
}
