import { demandOf } from "./demand.ts";
import { after, type Duration, minutes, seconds } from "./duration.ts";
import { attemptAll, TryAgainError } from "./errors.ts";
import { mostAhead } from "./launches.ts";
import { soonestAfter } from "./looks.ts";
import { holdIdOf } from "./marks/hold-id.ts";
import { type Plan, planScope } from "./plan.ts";
import {
  awaitedSince,
  holdable,
  nextDriftEnd,
  nodesWithJobs,
  nothingChanged,
  planNodes,
  type ScopeView,
} from "./plan-nodes.ts";
import type { Changed, Launch, NodeChange, PassContext } from "./ports.ts";
import { emptyRecord, type Hold, pastOf, type ScopeRecord, withoutHold } from "./record.ts";
import { noteChange, reportChanged, reportPlan } from "./reports.ts";
import { mostRequests } from "./requests.ts";
import { type Scope, wholeCluster } from "./scope.ts";
import { accountOf, launchesIn, podsByNode, readView, rulesFor, withPossibleAccount } from "./view.ts";

/** Why a scope is looked at. */
export type Trigger = Readonly<{
  /** Launches that events report. */
  launches?: readonly Launch[];
  /** What somebody asked for: the record as it is to be, before anything is planned. It may refuse by an error. */
  change?: ((record: ScopeRecord, now: Date, whole?: ScopeRecord) => ScopeRecord) | undefined;
  /** With `hold=auto`, the pods are read. */
  isLook?: boolean;
  /** The one-shot is set again; and without NodeClaims, nodes that no launch explains count as launches. */
  isSweep?: boolean;
}>;

/** What a pass found and did. */
export type Outcome = Plan & Readonly<{ changed: Changed }>;

/** Compares what is with what should be in one scope, and changes what differs. Whatever it leaves undone, the next pass does. */
export async function reconcile(context: PassContext, scope: Scope, trigger: Trigger = {}): Promise<Outcome> {
  const [view, record, whole] = await Promise.all([
    readView(context, scope, trigger.isLook),
    context.holds.find(scope),
    findWhole(context, scope),
  ]);
  try {
    return await reconcileWith(context, scope, trigger, { view, record, whole });
  } finally {
    await context.nodeEvents?.write(context);
  }
}

/** What a pass has read: a record that is missing is none, a cluster that could not be read is an error. */
export type Read = Readonly<{
  record: ScopeRecord | undefined;
  whole: ScopeRecord | undefined;
  view: ScopeView | Readonly<{ error: unknown }>;
}>;

/** The same, with what was read before. Events about nodes are noted, and written by the caller. */
export async function reconcileWith(
  context: PassContext,
  scope: Scope,
  trigger: Trigger,
  read: Read,
): Promise<Outcome> {
  const view = "error" in read.view ? undefined : read.view;
  const plan = await settle(context, scope, trigger, { ...read, view });
  reportPlan(context, plan, trigger);
  // All nodes are left until a change of them has ended.
  let changed: Changed = { ...nothingChanged, left: true };
  await attemptAll(
    [
      async () => {
        if (!view) return;
        const onChange = (change: NodeChange) => noteChange(context, change, plan);
        changed = await context.nodes.change(changesOf(context, plan, view), { ...context, onChange });
        reportChanged(context, plan, changed);
      },
      () => sendLooks(context, scope, plan),
      () => finish(context, plan, changed),
      // The message comes again, or the next sweep reads it again.
      ...("error" in read.view ? [raise(read.view.error)] : []),
    ],
    1,
  );
  return { ...plan, changed };
}

const raise = (error: unknown) => () => Promise.reject(error);

function changesOf({ rules, clock }: PassContext, plan: Plan, view: ScopeView) {
  const { record, until, isRequested } = plan;
  return planNodes({ record, until, isRequested, view, rules, now: clock.now() });
}

/** The whole cluster's record counts in every scope. */
const findWhole = async ({ holds }: PassContext, scope: Scope): Promise<ScopeRecord | undefined> =>
  scope === wholeCluster ? undefined : holds.find(wholeCluster);

/** More than there are requests of a scope, which may all be made at once. */
const tries = 2 * mostRequests;

/** Plans and writes. If another function wrote in between, it reads the records again and makes a new plan. */
async function settle(
  context: PassContext,
  scope: Scope,
  trigger: Trigger,
  read: Omit<Read, "view"> & Readonly<{ view: ScopeView | undefined }>,
): Promise<Plan> {
  const { clock, ids, holds, journal, events } = context;
  const { launches = [], change, isSweep = false } = trigger;
  const { view } = read;
  let { record: before, whole } = read;
  for (let attempt = 1; attempt <= tries; attempt++) {
    const now = clock.now();
    const record = withPossibleAccount(readable(context, before ?? emptyRecord(scope)), now);
    const asked = change?.(record, now, whole) ?? record;
    const shown = view ? launchesIn(view, asked, { isSweep, rules: context.rules, now }) : [];
    const found = [...launches, ...shown];
    const rules = rulesFor(context.rules, view, asked, found);
    const seen = view && {
      holdable: holdable(view, rules, now),
      present: new Set(view.nodes.map(({ name }) => name)),
      awaitedSince: awaitedSince(view, { ...asked.seen, ...timesOf(found) }, now),
      nextDriftEnd: nextDriftEnd(view, rules, now),
      pods: podsByNode(view),
      withJobs: nodesWithJobs(view, asked.hold, rules, now),
    };
    const isLimited = context.rules.auto && !rules.auto;
    const facts = { record: asked, whole, launches: found, nodes: seen, rules, isLimited, now };
    const { launchHold } = demandOf(facts);
    const plan = planScope({
      ...facts,
      stored: record,
      nodes: seen && { ...seen, ...accountOf(view, { ...asked, launchHold }, rules, now) },
      newId: ids.newHoldId(now),
    });
    const { oneShot } = plan.record.looks;
    const repeated = oneShot && plan.until && mayRepeat(trigger, plan) ? { oneShot } : {};
    // Nothing differs: a record is written only where there is something to remember.
    if (!plan.isChanged && asked === record && !before?.unreadable) return { ...plan, ...repeated };
    // History first: a crash in between leaves an entry that the same hold's end will overwrite.
    if (plan.past) await journal.remember(plan.past);
    if (await holds.write(plan.record)) {
      events?.note({ before: record, record: plan.record, past: plan.past });
      return { ...plan, ...repeated, record: { ...plan.record, version: plan.record.version + 1 } };
    }
    // The other one may have been a pause of the whole cluster.
    [before, whole] = await Promise.all([holds.find(scope), findWhole(context, scope)]);
  }
  throw new TryAgainError(`the record of ${scope} was changed by other functions ${tries} times in a row`);
}

/**
 * Whether an earlier invocation may have written the same record and crashed before it set the one-shot. Launches that
 * are seen for the first time are no repetition, nor is a look for nodes that boot: its one-shot is set already.
 */
const mayRepeat = ({ launches = [], change, isLook, isSweep }: Trigger, { news }: Plan): boolean => {
  const first = new Set(news.map(({ instance }) => instance));
  return Boolean(isSweep || isLook || change) || launches.some(({ instance }) => !first.has(instance));
};

const timesOf = (launches: readonly Launch[]): ScopeRecord["seen"] =>
  Object.fromEntries(launches.map(({ instance, launchedAt }) => [instance, launchedAt]));

/**
 * Only an edit by hand makes a record unreadable. Its content is lost, and the marks of its hold are orphaned. The next
 * hold's id is younger than any that a clock may have made: else functions that read the record before would take its marks.
 */
function readable({ log, metrics, clock }: PassContext, record: ScopeRecord): ScopeRecord {
  const { scope, version, unreadable } = record;
  if (!unreadable) return record;
  log.error("a record cannot be read: it counts as none, and is written anew", {
    scope,
    because: unreadable,
  });
  metrics.add("UnreadableRecords", 1);
  return { ...emptyRecord(scope), version, closedId: holdIdOf(after(clock.now(), mostAhead), "zzzzzz") };
}

/** Sets the one-shot and sends the message that the plan asks for. */
async function sendLooks(context: PassContext, scope: Scope, plan: Plan): Promise<void> {
  const { oneShot, message, record } = plan;
  await attemptAll([
    async () => {
      if (!oneShot) return;
      // After a pause comes a hold that has no id yet; to the one-shot its scope matters alone.
      const holdId = record.hold?.id ?? context.ids.newHoldId(context.clock.now());
      const result = await context.schedules.arm(scope, holdId, oneShot);
      context.log.info("one-shot set", { scope, holdId, at: oneShot, result });
    },
    async () => {
      if (message)
        await context.followUps.enqueue({ kind: "scope", scope, isLook: message.isLook }, message.delay);
    },
  ]);
}

/** A function that read the record before a hold ended may mark nodes for so long after its start, or after a launch. */
const markedWithin: Duration = minutes(1);

function mayBeMarked({ startedAt, ended }: Hold, { seen }: ScopeRecord, now: Date): boolean {
  if (!ended || after(ended.at, markedWithin) <= now) return false;
  const isRecent = (at: Date) => after(at, markedWithin) > now && at < after(now, mostAhead);
  return [startedAt, ...Object.values(seen)].some(isRecent);
}

/** Closes a hold that has ended and whose marks are removed. Work that is left is for the next pass, in a minute. */
async function finish(context: PassContext, plan: Plan, changed: Changed): Promise<void> {
  const { clock, holds, journal, metrics, log, events, schedules } = context;
  const { record } = plan;
  const { hold, scope } = record;
  if (!hold) return;
  const now = clock.now();
  const isUnfinished = changed.left || changed.failed > 0;
  const isLeft = isUnfinished || mayBeMarked(hold, record, now);
  if (isLeft) await schedules.arm(scope, hold.id, soonestAfter(after(now, seconds(30))));
  if (!hold.ended) return;
  // Reported until it is released: what cannot be released must be noticed.
  metrics.add("ReleaseLagMs", Math.max(0, now.getTime() - (plan.dueAt ?? hold.ended.at).getTime()));
  if (isUnfinished || (isLeft && !plan.dueAt)) return;
  const past = pastOf({ ...record, hold }, now);
  await journal.remember(past);
  if (isLeft) return;
  const closed = withoutHold(record);
  if (!(await holds.write(closed))) return;
  events?.note({ before: record, record: closed, past });
  log.info("hold closed", { ...past, holdId: past.id });
}
