import { after, type Duration, earlier, minutes, seconds } from "../duration.ts";
import { BrokenSetupError } from "../errors.ts";
import type { ScopeRecord } from "../holds/hold.ts";
import { changeRecord, findRecord } from "../holds/records.ts";
import type { Context, Launch, Replacement, Unavailable } from "../ports.ts";
import { reportLimit } from "../report-limit.ts";
import type { Scope } from "../scope.ts";
import { judgeLaunch, type Verdict } from "./judge-launches.ts";
import { remember, rememberedReplacements } from "./remember-replacements.ts";

/** The launches of one scope by what Karpenter made them for. */
export type Judged = Readonly<{
  demand: readonly Launch[];
  replacements: readonly Launch[];
  unknown: readonly Launch[];
}>;

/** A node joins long after its NodeClaim was made; without a cloud that is all we hear of it. */
const nodeClaimIsOlderBy: Duration = minutes(20);
const timeLimit: Duration = seconds(5);

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
  // Before the answer: what it does not name may have been written since it was asked for.
  const now = context.clock.now();
  const replacements = launches.some(isNew) ? await readReplacements(context, record, launches) : [];
  const facts = { remembered, replacements, firstSeenAt, now };
  const verdicts = new Map(launches.map((launch) => [launch, judgeLaunch(launch, facts)]));
  const those = (kind: Verdict["kind"]) => launches.filter((launch) => verdicts.get(launch)?.kind === kind);

  logVerdicts(context, scope, launches.filter(isNew), verdicts);
  await rememberAll(context, scope, those("replacement").filter(isNew), replacements);
  return {
    demand: those("demand"),
    replacements: those("replacement"),
    unknown: those("unknown yet"),
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
