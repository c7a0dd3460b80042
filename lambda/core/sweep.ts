import { wasLookedAt } from "./demand.ts";
import { after, type Duration, earlier, hours, seconds } from "./duration.ts";
import { attemptAll } from "./errors.ts";
import { jobsEndWithin } from "./launches.ts";
import { holdLabel } from "./marks/keys.ts";
import { describeObserved, sinceReport, sumObserved } from "./observed.ts";
import { claimsOf, nothingChanged } from "./plan-nodes.ts";
import type { Changed, NodeChange, PassContext, SeenNode } from "./ports.ts";
import { isPossible } from "./quiet.ts";
import { type Outcome, reconcileWith } from "./reconcile.ts";
import { pastOf, type ScopeRecord } from "./record.ts";
import { untilOf } from "./requests.ts";
import { scopeOf } from "./rules.ts";
import { admits, poolScope, type Scope, wholeCluster } from "./scope.ts";
import { partOf, readView } from "./view.ts";

/** One scope takes no longer than this, so that one with many slow nodes does not stop the others. */
const scopeTime: Duration = seconds(30);

/** What a pass over all scopes did, and what became of orphaned marks. */
export type All = Readonly<{
  outcomes: readonly Outcome[];
  /** Whether there was no time for some scopes. */
  isLeft: boolean;
  orphaned: Changed;
  records: readonly ScopeRecord[];
}>;

/** What was found before anything was done: every record, and the marked nodes unless they could not be listed. */
type Found = Readonly<{ records: readonly ScopeRecord[]; marked?: readonly SeenNode[] }>;

/**
 * A pass over every scope, and the removal of orphaned marks: what a crash, a lost event or a failed one-shot left. Nodes
 * and NodeClaims are read once for all of them. What one pass has no time for, the next one does.
 */
export async function reconcileAll(
  context: PassContext,
  onFound: (found: Found) => void = () => {},
): Promise<All> {
  const { clock, holds, nodes } = context;
  const [view, marked] = await Promise.all([
    readView(context, wholeCluster, true),
    nodes.listMarked(context).catch((error: unknown) => ({ error })),
  ]);
  // Read after the nodes: a hold is recorded before its first mark, so a mark seen above has its hold here.
  const { records, problems } = await holds.all();
  onFound({ records, ...(!("error" in marked) && { marked }) });
  const byScope = new Map(records.map((record) => [record.scope, record]));
  const order = scopesToSweep(context, records, view);
  const outcomes: Outcome[] = [];
  let isLeft = false;
  let orphaned = nothingChanged;
  await attemptAll([
    ...order.map((scope) => async () => {
      if (clock.now() >= context.deadline) {
        context.log.warn("no time is left: the next sweep looks at this scope", { scope });
        isLeft = true;
        return;
      }
      const deadline = earlier(context.deadline, after(clock.now(), scopeTime));
      const whole = scope === wholeCluster ? undefined : byScope.get(wholeCluster);
      const read = { record: byScope.get(scope), whole, view: "error" in view ? view : partOf(view, scope) };
      outcomes.push(await reconcileWith({ ...context, deadline }, scope, { isSweep: true }, read));
    }),
    async () => {
      if ("error" in marked) throw marked.error;
      orphaned = await releaseOrphanedMarks(context, marked, records);
    },
    ...problems.map((error) => () => Promise.reject(error)),
    async () => context.nodeEvents?.write(context),
  ]);
  return { outcomes, isLeft, orphaned, records };
}

/** What the schedule of sweeps does. */
export async function sweep(context: PassContext): Promise<void> {
  // Measured at once: a scope that fails must not hide how long another one is held.
  const { records } = await reconcileAll(context, (found) => measure(context, found));
  // Last: where it is missing, an alarm takes it that no sweep has ended.
  context.metrics.add("HoldActive", records.filter(({ hold }) => hold).length);
  await attemptAll([
    () => reportWeek(context, records),
    () => context.journal.noteSweep(context.clock.now()),
  ]);
}

const week: Duration = hours(7 * 24);
/** More than a week has. */
const mostHolds = 1_000;

/** With `mode=observe`, logs and sends once a week what was observed. */
async function reportWeek(context: PassContext, records: readonly ScopeRecord[]): Promise<void> {
  const { rules, journal, clock, log, events } = context;
  if (rules.mode !== "observe") return;
  const now = clock.now();
  const noted = await journal.lastReport();
  const last = noted && isPossible(noted.at, now) ? noted : undefined;
  if (last && after(last.at, week) > now) return;
  const on = records.flatMap((record) =>
    record.hold ? [pastOf({ ...record, hold: record.hold }, now)] : [],
  );
  const past = last ? await journal.history(mostHolds) : [];
  // Noted first: a report that comes twice is worse than one that is missing.
  await journal.noteReport({
    at: now,
    observed: Object.fromEntries(on.flatMap(({ id, observed }) => (observed ? [[id, observed]] : []))),
  });
  if (!last) return;
  const { at: since } = last;
  const ended = past.filter(({ endedAt }) => endedAt > since);
  // History may have a hold whose marks are still being removed.
  const holds = new Map([...ended, ...on].map((hold) => [hold.id, sinceReport(hold, last)]));
  const sum = sumObserved([...holds.values()]);
  if (!sum) return;
  log.info("observed", { since, ...sum, summary: describeObserved(sum) });
  events?.noteObserved({ since, until: now, ...sum });
}

type View = Awaited<ReturnType<typeof readView>>;

/** Every scope with a record or a NodeClaim; holds that are over come first, the most overdue before the others. */
function scopesToSweep(
  { rules }: PassContext,
  records: readonly ScopeRecord[],
  view: View,
): readonly Scope[] {
  const dueOf = (record: ScopeRecord) =>
    record.hold?.ended ? 0 : (untilOf(record, rules)?.getTime() ?? Number.MAX_SAFE_INTEGER);
  const recorded = records.toSorted((a, b) => dueOf(a) - dueOf(b)).map(({ scope }) => scope);
  const shown =
    "error" in view ? [] : [...view.nodes, ...claimsOf(view)].map(({ nodePool }) => scopeOf(rules, nodePool));
  return [...new Set([...recorded, ...shown])];
}

/** Nodes whose mark is of no hold that is recorded for their scope, whatever time its id names: anybody may write a label. */
export function withoutOwner(
  marked: readonly SeenNode[],
  records: readonly ScopeRecord[],
): readonly SeenNode[] {
  const scopes = new Map(records.flatMap(({ hold, scope }) => (hold ? [[hold.id, scope]] : [])));
  return marked.filter(({ labels, nodePool }) => {
    const scope = scopes.get(labels?.[holdLabel] ?? "");
    return scope !== wholeCluster && scope !== poolScope(nodePool);
  });
}

const soon: Duration = seconds(10);

/** Removes marks of holds that no record names, and marks of nodes that the settings leave out. */
async function releaseOrphanedMarks(
  context: PassContext,
  marked: readonly SeenNode[],
  records: readonly ScopeRecord[],
): Promise<Changed> {
  const { rules, nodes, log, metrics, nodeEvents, clock, followUps } = context;
  const unowned = new Set(withoutOwner(marked, records));
  const isOrphaned = (node: SeenNode) => unowned.has(node) || !admits(rules.nodePools, node.nodePool);
  const found = new Map(marked.filter(isOrphaned).map(({ uid, labels }) => [uid, labels?.[holdLabel]]));
  if (found.size === 0) return nothingChanged;
  if (clock.now() >= context.deadline) return { ...nothingChanged, left: true };
  // A hold that was closed after its marks were listed has left none.
  const present = await nodes.listMarked(context);
  const orphaned = present.flatMap((node): NodeChange[] => {
    const holdId = node.labels?.[holdLabel];
    if (holdId === undefined || found.get(node.uid) !== holdId) return [];
    return [{ do: "release", node, holdId, scope: scopeOf(rules, node.nodePool) }];
  });
  if (orphaned.length === 0) return nothingChanged;
  const onChange = ({ node }: NodeChange) =>
    nodeEvents?.note({
      node,
      reason: "Released",
      message: "Released: no hold owns its mark",
      at: clock.now(),
    });
  const changed = await nodes.change(orphaned, { ...context, onChange });
  const holdIds = [...new Set(orphaned.map(({ holdId }) => holdId))].slice(0, 10);
  log.warn("orphaned marks removed", { holdIds, ...changed });
  metrics.add("OrphansFound", orphaned.length);
  // A mark that seemed younger, as after a record was restored, has kept its node from the hold that is on.
  const isKept = ({ scope: of, holdId }: NodeChange, { scope, hold }: ScopeRecord) =>
    hold && !hold.ended && of === scope && holdId > hold.id;
  const waiting = records.filter((record) => orphaned.some((change) => isKept(change, record)));
  await attemptAll(
    waiting.map(
      ({ scope }) =>
        () =>
          followUps.enqueue({ kind: "scope", scope, isLook: false }, soon),
    ),
  );
  return changed;
}

function measure({ clock, metrics, rules }: PassContext, { records, marked }: Found): void {
  const at = clock.now();
  const now = at.getTime();
  // The limit of a hold that pays counts from its last launch; Jobs have a day more.
  const started = records.flatMap(({ launchHold, account }) => {
    if (!launchHold) return [];
    const { startedAt, lastLaunchAt, isConstant, isEnding } = launchHold;
    const jobs = isEnding ? jobsEndWithin : 0;
    const pays = !isConstant && (rules.auto || wasLookedAt(account, rules, at));
    return [(pays ? lastLaunchAt : startedAt).getTime() + jobs];
  });
  metrics.add("OldestHoldMs", now - started.reduce((a, b) => Math.min(a, b), now));
  if (marked) metrics.add("NodesHeldNow", marked.length);
}
