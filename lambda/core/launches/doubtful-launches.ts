import { after, type Duration, earlier, minutes, seconds } from "../duration.ts";
import { changeRecord } from "../holds/change-record.ts";
import { joinsCountFrom, type ScopeRecord, withJoinedNode } from "../holds/hold.ts";
import type { Context, Launch } from "../ports.ts";
import type { Scope } from "../scope.ts";
import type { Judged } from "./find-demand.ts";
import type { LaunchBatch } from "./merge-messages.ts";
import { delayOf, giveUpAfter } from "./pending-nodes.ts";

/**
 * Launches count this long while none of their nodes joins. Otherwise a principal that may set Karpenter's tags on
 * instances could hold the nodes of a cluster for ever, hold after hold.
 */
const joinsWithin: Duration = minutes(10);
const timeLimit: Duration = seconds(30);

export type Separated = Readonly<{ counting: readonly Launch[]; doubtful: readonly Launch[] }>;

/** Separates the launches that count from those that do only once a node has joined. */
export async function separateDoubtful(
  context: Context,
  { scope, record, demand: launches }: Pick<Judged, "record" | "demand"> & Readonly<{ scope: Scope }>,
): Promise<Separated> {
  const { unjoinedSince } = record;
  const isDoubtful = ({ launchedAt }: Launch) =>
    unjoinedSince !== undefined && launchedAt >= after(unjoinedSince, joinsWithin);
  const doubtful = launches.filter(isDoubtful);
  if (doubtful.length === 0 || !unjoinedSince) return { counting: launches, doubtful: [] };
  if (await hasJoined(context, scope, unjoinedSince)) return { counting: launches, doubtful: [] };
  context.log.warn("launches in doubt: no node has joined", {
    scope,
    instances: doubtful.map(({ instance }) => instance),
    unjoinedSince,
  });
  return { counting: launches.filter((launch) => !isDoubtful(launch)), doubtful };
}

/** The record lacks nodes that were never marked, and nodes marked by a function that crashed. */
async function hasJoined(context: Context, scope: Scope, unjoinedSince: Date): Promise<boolean> {
  const deadline = earlier(context.deadline, after(context.clock.now(), timeLimit));
  try {
    const since = joinsCountFrom(unjoinedSince);
    if (!(await context.nodes.hasJoined(scope, since, { ...context, deadline }))) return false;
  } catch (error) {
    // In doubt a launch is held for.
    context.log.warn("whether a node has joined could not be read", { scope, error });
  }
  const forget = (record: ScopeRecord) =>
    record.unjoinedSince && record.unjoinedSince <= unjoinedSince ? { record: withJoinedNode(record) } : {};
  await changeRecord(context, scope, forget);
  return true;
}

/** Looks at doubtful launches again while their nodes may still join; then the sweep finds those that do by their nodes. */
export async function retryDoubtful(
  { clock, followUps, metrics, rules }: Context,
  doubtful: readonly Launch[],
  { firstSeenAt, attempt }: Pick<LaunchBatch, "firstSeenAt" | "attempt">,
): Promise<void> {
  if (doubtful.length === 0) return;
  if (clock.now() >= after(firstSeenAt, giveUpAfter + rules.initialDelay)) {
    metrics.add("LaunchesIgnored", doubtful.length);
    return;
  }
  const launches = doubtful.map(({ instance, launchedAt }) => ({ instance, launchedAt }));
  await followUps.enqueue(
    { kind: "launches", launches, firstSeenAt, attempt: attempt + 1 },
    delayOf(attempt),
  );
}
