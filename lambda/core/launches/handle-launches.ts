import { describeLength } from "../auto/staircase.ts";
import { after, type Duration, earlier, minutes, seconds } from "../duration.ts";
import { attemptAll } from "../errors.ts";
import { type Hold, nextLookAt } from "../holds/hold.ts";
import { armAndMark, armRelease, awaitPendingNodes, delayOf, giveUpAfter } from "../holds/mark-nodes.ts";
import { changeRecord, findRecord, wholeClusterRecord } from "../holds/records.ts";
import { watermarkOf } from "../holds/watermark.ts";
import type { Context, Instance, Launch, LaunchEvent } from "../ports.ts";
import { scopeOf } from "../rules.ts";
import { admits, type Scope } from "../scope.ts";
import { decideLaunch, type LaunchDecision } from "./decide-launch.ts";
import { findDemand, judgeAgainAfter } from "./find-demand.ts";
import type { LaunchBatch } from "./merge-messages.ts";

/** Finds out which of the instances are this cluster's Karpenter nodes, and holds for those. */
export async function resolveLaunches(context: Context, batch: LaunchBatch): Promise<void> {
  if (batch.attempt === 0) context.metrics.add("LaunchesSeen", batch.launches.length);
  const launches = await delayEarly(context, batch);
  if (launches.length === 0) return;
  const known = await context.launches.find(
    launches.map((launch) => launch.instance),
    context,
  );
  // An event from the future would hold for longer than any launch may. Clocks differ by seconds only.
  const newest = after(context.clock.now(), minutes(1));
  const ours: Launch[] = [];
  const unknown: LaunchEvent[] = [];
  for (const launch of launches) {
    const instance = known.get(launch.instance);
    if (!instance) unknown.push(launch);
    else if (isOurs(context, instance)) {
      ours.push({ ...launch, launchedAt: earlier(launch.launchedAt, newest), nodePool: instance.nodePool });
    }
  }
  // Hold first: if that fails, the queue delivers all of these launches again.
  await holdForLaunches(context, ours, batch);
  await retryUnknown(context, unknown, batch);
}

/** Queues the launches whose initial delay is not over, and returns the others; one that was queued is due. */
async function delayEarly(context: Context, batch: LaunchBatch): Promise<readonly LaunchEvent[]> {
  const { launches, attempt } = batch;
  const { initialDelay } = context.rules;
  if (attempt > 0 || initialDelay === 0) return launches;
  const now = context.clock.now().getTime();
  const restOf = ({ launchedAt }: LaunchEvent) =>
    Math.min(initialDelay, launchedAt.getTime() + initialDelay - now);
  const early = launches.filter((launch) => restOf(launch) > 0);
  if (early.length > 0) {
    const followUp = { kind: "launches", ...batch, launches: early, attempt: 1 } as const;
    await context.followUps.enqueue(followUp, Math.max(...early.map(restOf)));
  }
  return launches.filter((launch) => restOf(launch) <= 0);
}

function isOurs(context: Context, instance: Instance): instance is Instance & { nodePool: string } {
  if (instance.nodePool !== undefined && admits(context.rules.nodePools, instance.nodePool)) return true;
  context.log.info("launch decided", {
    action: "ignore",
    because: instance.nodePool
      ? `the settings leave out NodePool ${instance.nodePool}, or its name is not valid`
      : "it is not a node of this cluster's Karpenter",
    instances: [instance.id],
  });
  context.metrics.add("LaunchesIgnored", 1);
  return false;
}

/** Most instances are known to EC2, with their tags, seconds after their launch. */
const soon = [2, 5].map(seconds);
const unknownDelayOf = (attempt: number): Duration => soon[attempt] ?? delayOf(attempt - soon.length);

/** Queues the launches of instances that EC2 does not know yet. */
async function retryUnknown(
  context: Context,
  unknown: readonly LaunchEvent[],
  batch: LaunchBatch,
): Promise<void> {
  if (unknown.length === 0) return;
  const { firstSeenAt, attempt } = batch;
  if (context.clock.now() >= after(firstSeenAt, giveUpAfter + context.rules.initialDelay)) {
    context.log.warn("launch decided", {
      action: "ignore",
      because: "the cloud does not know the instance",
      instances: unknown.map(({ instance }) => instance),
    });
    context.metrics.add("LaunchesIgnored", unknown.length);
    return;
  }
  const followUp = { kind: "launches", launches: unknown, firstSeenAt, attempt: attempt + 1 } as const;
  await context.followUps.enqueue(followUp, unknownDelayOf(attempt));
}

/** The nodes of one scope may take a minute to mark; the connections to the cluster are shared. */
const scopesAtOnce = 4;

/** Holds for the launches of each scope; a scope that is slow or fails does not stop the others. */
export async function holdForLaunches(
  context: Context,
  launches: readonly Launch[],
  batch: Pick<LaunchBatch, "firstSeenAt" | "attempt">,
): Promise<void> {
  const scopes = Map.groupBy(launches, (launch) => scopeOf(context.rules, launch.nodePool));
  await attemptAll(
    [...scopes].map(([scope, ofScope]) => async () => {
      const { firstSeenAt } = batch;
      const judged = await findDemand(context, { scope, launches: ofScope, firstSeenAt });
      await attemptAll([
        () => holdForDemand(context, scope, judged.demand),
        () => awaitReplacements(context, scope, judged.replacements),
        () => judgeAgain(context, judged.unknown, batch),
      ]);
    }),
    scopesAtOnce,
  );
}

async function holdForDemand(context: Context, scope: Scope, demand: readonly Launch[]): Promise<void> {
  if (demand.length === 0) return;
  const { action } = await startOrExtend(context, { scope, launches: demand, awaited: demand });
  // Counted here, not in `startOrExtend`: a sweep passes it the same launches again each time.
  if (action === "ignore") context.metrics.add("LaunchesIgnored", demand.length);
}

/** While a hold is on, a replacement's node is marked like any other. */
async function awaitReplacements(
  context: Context,
  scope: Scope,
  replacements: readonly Launch[],
): Promise<void> {
  if (replacements.length === 0) return;
  const { hold } = await findRecord(context, scope);
  if (hold?.state === "held") await awaitPendingNodes(context, { scope, awaited: replacements, attempt: 0 });
}

async function judgeAgain(
  context: Context,
  unknown: readonly Launch[],
  { firstSeenAt, attempt }: Pick<LaunchBatch, "firstSeenAt" | "attempt">,
): Promise<void> {
  if (unknown.length === 0) return;
  const now = context.clock.now();
  const delay = Math.max(...unknown.map((launch) => judgeAgainAfter(launch, { firstSeenAt, now })));
  const launches = unknown.map(({ instance, launchedAt }) => ({ instance, launchedAt }));
  await context.followUps.enqueue({ kind: "launches", launches, firstSeenAt, attempt: attempt + 1 }, delay);
}

type DemandOfScope = Readonly<{ scope: Scope; launches: readonly Launch[]; awaited: readonly LaunchEvent[] }>;

/**
 * Starts or extends the hold of a scope. It records first, arms second and marks third: after a crash in between, the same
 * launches come again and finish the work. Only a launch that starts a hold, or widens it, marks at once; follow-ups mark
 * nodes that join later.
 */
export async function startOrExtend(
  context: Context,
  { scope, launches, awaited }: DemandOfScope,
): Promise<LaunchDecision> {
  const decision = await decide(context, scope, launches);
  report(context, scope, launches, decision);
  if (decision.action === "ignore") return decision;

  const { hold, widens } = decision;
  if (decision.action !== "start" && !widens) {
    const at = nextLookAt(hold, context.rules, context.clock.now());
    if (!hold.armedFor) await armRelease(context, { scope, hold, at });
    await awaitPendingNodes(context, { scope, awaited, attempt: 0 });
    return decision;
  }
  const marked = await armAndMark(context, scope, hold);
  await awaitPendingNodes(context, { scope, awaited, attempt: 0 }, marked);
  return decision;
}

async function decide(context: Context, scope: Scope, launches: readonly Launch[]): Promise<LaunchDecision> {
  const { rules, clock, ids } = context;
  const whole = await wholeClusterRecord(context, scope);
  return changeRecord(context, scope, (record) => {
    const now = clock.now();
    const watermark = watermarkOf(record, whole);
    return decideLaunch({ record, watermark, launches, rules, now, newId: ids.newHoldId(now) });
  });
}

function report(context: Context, scope: Scope, launches: readonly Launch[], decision: LaunchDecision): void {
  const { action } = decision;
  logDecision(context, scope, launches, decision);
  if (action === "start") context.metrics.add("HoldsStarted", 1);
  if (action === "extend") context.metrics.add("HoldsExtended", 1);
  if (action === "cap") context.metrics.add("HoldsCapped", 1);
}

function logDecision(
  { log }: Context,
  scope: Scope,
  launches: readonly Launch[],
  { action, because, hold }: LaunchDecision & Readonly<{ hold?: Hold }>,
): void {
  const instances = launches.map((launch) => launch.instance);
  const held = hold && { holdId: hold.id, expiresAt: hold.expiresAt };
  const learned = hold?.length && { length: describeLength(hold.length) };
  log.info("launch decided", { scope, action, because, instances, ...held, ...learned });
}
