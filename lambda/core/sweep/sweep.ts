import { after, type Duration, earlier, seconds } from "../duration.ts";
import { attemptAll } from "../errors.ts";
import { whyOver } from "../holds/end-hold.ts";
import { dueAt, type Hold, type ScopeRecord } from "../holds/hold.ts";
import { lengthAfter } from "../holds/learning.ts";
import { armRelease, awaitPendingNodes, markNodes } from "../holds/mark-nodes.ts";
import { changeRecord } from "../holds/records.ts";
import { watermarkOf } from "../holds/watermark.ts";
import { findDemand } from "../launches/find-demand.ts";
import { startOrExtend } from "../launches/handle-launches.ts";
import type { Context, Launch } from "../ports.ts";
import { type Ending, endHolds } from "../releases/end-holds.ts";
import { decideNow, decideRelease } from "../releases/release.ts";
import { isKept, longestHold, type Rules, scopeOf } from "../rules.ts";
import { admits, type Scope, wholeCluster } from "../scope.ts";

/** A sweep marks the nodes of one scope for no longer than this. */
const scopeTime: Duration = seconds(30);

/**
 * Compares records, nodes and clock, and repairs what lost events left. It ends holds first and marks nodes last.
 * A failure does not stop the rest, and the next sweep does what this one has no time for.
 */
export async function sweep(context: Context): Promise<void> {
  const { clock, holds, journal, rules } = context;
  const { records, problems } = await holds.all();
  await attemptAll([
    () => replaceUnreadable(context, records),
    () => releaseOverdue(context, planSweep(records, rules, clock.now())),
    // Before scopes are marked: a mark would hide that a launch was missed.
    () => recoverMissedLaunches(context),
    () => keepHolds(context),
    async () => measure(context, records),
    ...problems.map((error) => () => Promise.reject(error)),
  ]);
  await journal.noteSweep(clock.now());
}

/** Replaces unreadable records: without a launch nothing else would write them. */
async function replaceUnreadable(context: Context, records: readonly ScopeRecord[]): Promise<void> {
  for (const { scope, unreadable } of records) {
    if (unreadable) await changeRecord(context, scope, (record) => (record.unreadable ? { record } : {}));
  }
}

type RecordWithHold = ScopeRecord & Readonly<{ hold: Hold }>;

/** Holds that are over, the longest overdue first; those whose release was begun; and those that go on. */
export function planSweep(records: readonly ScopeRecord[], rules: Rules, now: Date) {
  const whole = records.find(({ scope }) => scope === wholeCluster);
  const isOver = (record: ScopeRecord) =>
    whyOver({ record, watermark: watermarkOf(record, whole), rules, now }) !== undefined;
  const withHold = records.filter((record): record is RecordWithHold => record.hold !== undefined);
  const held = withHold.filter(({ hold }) => hold.state === "held");
  const dueTime = ({ hold }: RecordWithHold) => dueAt(hold, rules).getTime();
  return {
    over: held.filter(isOver).toSorted((a, b) => dueTime(a) - dueTime(b)),
    releasing: withHold.filter(({ hold }) => hold.state === "releasing"),
    running: held.filter((record) => !isOver(record)),
  };
}

type SweepPlan = ReturnType<typeof planSweep>;

/** Ends every hold that is over, then removes all their marks. */
async function releaseOverdue(context: Context, { over, releasing }: SweepPlan): Promise<void> {
  const endings: Ending[] = [...releasing];
  await attemptAll([
    ...over.map(({ scope }) => async () => {
      if (context.clock.now() < context.deadline) endings.push(...(await decideOverdue(context, scope)));
    }),
    () => endHolds(context, endings),
  ]);
}

/** Decides again on the present record; none when the hold goes on. */
async function decideOverdue(context: Context, scope: Scope): Promise<readonly Ending[]> {
  const decision = await decideNow(context, scope);
  logDecision(context, scope, decision);
  if (decision.action === "release") return [{ scope, hold: decision.hold }];
  if (decision.action === "keep")
    await armRelease(context, { scope, hold: decision.hold, at: decision.armFor });
  return [];
}

/** Marks the unmarked nodes of each running hold, and arms its release. */
async function keepHolds(context: Context): Promise<void> {
  const { rules, clock, holds } = context;
  // Read again: a hold that was due may have been extended meanwhile, or another one may have begun.
  const { running } = planSweep((await holds.all()).records, rules, clock.now());
  await attemptAll(
    running.map((record) => async () => {
      if (clock.now() >= context.deadline) return;
      const deadline = earlier(context.deadline, after(clock.now(), scopeTime));
      await keepHold({ ...context, deadline }, record);
    }),
  );
}

async function keepHold(context: Context, record: RecordWithHold): Promise<void> {
  const { scope } = record;
  const { rules, clock } = context;
  // The plan has compared it with the whole cluster's watermark.
  const facts = { record, watermark: watermarkOf(record), rules, now: clock.now() };
  const decision = decideRelease(facts);
  logDecision(context, scope, decision);
  // A hold that became due meanwhile is released by its one-shot, or by the next sweep.
  if (decision.action !== "keep") return;
  const { hold, armFor } = decision;
  // The hold is recorded, so marking need not wait for Scheduler, which may fail.
  const marked = await markNodes(context, { scope, hold });
  await awaitPendingNodes(context, { scope, awaited: [], attempt: 0 }, marked);
  await armRelease(context, { scope, hold, at: armFor });
}

function logDecision(
  { log }: Context,
  scope: Scope,
  { action, because, ...decision }: ReturnType<typeof decideRelease>,
): void {
  const holdId = "hold" in decision && { holdId: decision.hold.id };
  log.info("sweep decided", { scope, action, because, ...holdId });
}

function measure({ clock, metrics, rules }: Context, records: readonly ScopeRecord[]): void {
  for (const record of records.filter(({ scope }) => isKept(rules, scope))) {
    const learned = lengthAfter(record, rules, record.learned?.idle[0]?.nodes ?? 1);
    if (learned) metrics.add("LearnedHoldMs", learned.length);
  }
  const started = records.flatMap(({ hold }) => (hold ? [hold.startedAt.getTime()] : []));
  const oldest = started.reduce((a, b) => Math.min(a, b), clock.now().getTime());
  metrics.add("HoldActive", started.length);
  metrics.add("OldestHoldMs", clock.now().getTime() - oldest);
}

/** Finds young nodes without a mark, reads when they were launched, and holds for them as for any launch. */
export async function recoverMissedLaunches(context: Context): Promise<void> {
  const { rules, clock } = context;
  const nodes = await context.nodes.joinedSince(after(clock.now(), -longestHold(rules)), "unmarked", context);
  const known = await context.launches.find(
    nodes.map((node) => node.instance),
    context,
  );
  // A launch younger than the initial delay was not missed: it still waits for its delay.
  const newest = after(clock.now(), -rules.initialDelay);
  const launches = nodes.flatMap((node): Launch[] => {
    const instance = known.get(node.instance);
    return instance?.nodePool && admits(rules.nodePools, node.nodePool) && instance.launchedAt <= newest
      ? [{ instance: node.instance, launchedAt: instance.launchedAt, nodePool: node.nodePool }]
      : [];
  });
  const scopes = Map.groupBy(launches, (launch) => scopeOf(rules, launch.nodePool));
  await attemptAll(
    [...scopes].map(
      ([scope, missed]) =>
        () =>
          recover(context, scope, missed),
    ),
  );
}

async function recover(context: Context, scope: Scope, missed: readonly Launch[]): Promise<void> {
  // The next sweep finds them again.
  if (context.clock.now() >= context.deadline) return;
  // What is unknown yet was launched within the last minute: the next sweep sees it again.
  const firstSeenAt = context.clock.now();
  const { demand } = await findDemand(context, { scope, launches: missed, firstSeenAt });
  if (demand.length === 0) return;
  const { action } = await startOrExtend(context, { scope, launches: demand, awaited: [] });
  if (action === "ignore" || action === "await") return;
  context.log.warn("launches were missed", { scope, instances: demand.map((launch) => launch.instance) });
  context.metrics.add("MissedLaunches", demand.length);
}
