import { after, type Duration, earlier, later, minutes, seconds } from "../duration.ts";
import type { Context, FollowUp, LaunchEvent, Marked, ReleaseContext } from "../ports.ts";
import { isKept, type Rules } from "../rules.ts";
import type { Scope } from "../scope.ts";
import {
  dueAt,
  type Hold,
  isUnjoined,
  joinedHold,
  joinsCountFrom,
  nextLookAt,
  type ScopeRecord,
} from "./hold.ts";
import { changeRecord, findRecord } from "./records.ts";

/** A hold of a scope, and when to look at it next. */
type NextLook = Readonly<{ scope: Scope; hold: Hold; at: Date }>;

/** Sets the one-shot of the next look, and one for the hold's end where none of these lies ahead. */
export async function armRelease(context: ReleaseContext, next: NextLook): Promise<void> {
  const armedFor = await arm(context, next);
  if (!armedFor) return;
  const { scope, hold } = next;
  await changeRecord(context, scope, (record) => ({ record: withArmed(record, hold.id, armedFor) }));
}

/**
 * Each look sets the one-shot of the next, so one that fails for good would be the last: the one-shot for the hold's end
 * lies behind all of them. Looks move the end often, so it is set again only when its turn comes. Returns the new one.
 */
async function arm(context: ReleaseContext, { scope, hold, at }: NextLook): Promise<Date | undefined> {
  const isAhead = hold.armedFor && hold.armedFor > at;
  const end = isAhead ? undefined : later(at, dueAt(hold, context.rules));
  const set = async (time: Date) => {
    const result = await context.schedules.arm(scope, hold.id, time);
    context.log.info("release armed", { scope, holdId: hold.id, at: time, result });
  };
  await Promise.all([set(at), ...(end && end > at ? [set(end)] : [])]);
  return end;
}

function withArmed(record: ScopeRecord, holdId: string, armedFor: Date): ScopeRecord | undefined {
  const { hold } = record;
  if (hold?.id !== holdId || hold.armedFor?.getTime() === armedFor.getTime()) return undefined;
  return { ...record, hold: { ...hold, armedFor } };
}

/**
 * Sets the one-shots of a hold that has none, then marks its nodes, and notes both with one write. After a crash in
 * between, the record still names no one-shot, and the next launch or sweep sets the same ones again.
 */
export async function armAndMark(context: Context, scope: Scope, hold: Hold): Promise<Marked> {
  if (hold.armedFor) return markNodes(context, { scope, hold });
  const at = nextLookAt(hold, context.rules, context.clock.now());
  const armedFor = await arm(context, { scope, hold, at });
  return markNodes(context, { scope, hold, ...(armedFor && { armedFor }) });
}

type Marking = Readonly<{ scope: Scope; hold: Hold; armedFor?: Date; also?: ReadonlySet<string> }>;

/**
 * Marks the nodes of a hold, but none that a look has let go unless `also` names it. Then re-reads the record: if the
 * hold ended meanwhile, its marks are removed again.
 */
export async function markNodes(
  context: ReleaseContext,
  { scope, hold, armedFor, also }: Marking,
): Promise<Marked> {
  const { id: holdId, marksFrom } = hold;
  const { rules, nodes, log } = context;
  const limits = marksFrom && { joinedFrom: joinsCountFrom(marksFrom), ...(also && { also }) };
  const marked = await nodes.mark({ scope, holdId, ...limits }, context);
  log.info("nodes marked", { scope, holdId, ...marked, seen: marked.seen.length });
  const hasNews = touchedBy(marked) > 0 || marked.left || (isComplete(marked) && hold.unprotected);
  if (!hasNews && !armedFor && !showsJoined(hold, marked)) return marked;

  const noted = await changeRecord(context, scope, (record) =>
    noteMarks(record, { holdId, marked, isWhole: !marksFrom, armedFor, rules }),
  );
  if (noted.protected) reportProtected(context, noted.protected);
  if (noted.isOurs) return marked;
  // Mark for the present hold first, so that no node is without a mark in between.
  const byPresent = noted.present && (await markNodes(context, { scope, hold: noted.present }));
  const released = await nodes.release(holdId, context);
  log.info("marks removed again: their hold ended meanwhile", { scope, holdId, ...released });
  return byPresent ?? { ...marked, marked: 0, adopted: 0 };
}

const touchedBy = ({ marked, adopted }: Marked): number => marked + adopted;
export const isComplete = ({ left, failed }: Marked): boolean => !left && failed === 0;

/** Whether one of the nodes launched for the hold is seen for the first time. */
const showsJoined = (hold: Hold, { seen }: Marked): boolean =>
  isUnjoined(hold) && seen.some(({ joinedAt }) => joinedAt > joinsCountFrom(hold.burstFrom));

type Note = Readonly<{
  holdId: string;
  marked: Marked;
  isWhole: boolean;
  armedFor: Date | undefined;
  rules: Rules;
}>;
type Noted = Readonly<{ isOurs: boolean; present?: Hold; protected?: Hold; record?: ScopeRecord }>;

function noteMarks(record: ScopeRecord, { holdId, marked, isWhole, armedFor, rules }: Note): Noted {
  const { hold } = record;
  if (hold?.state !== "held") return { isOurs: false };
  if (hold.id !== holdId) return { isOurs: false, present: hold };
  const touched = touchedBy(marked);
  const isProtectedNow = hold.unprotected === true && isWhole && isComplete(marked);
  // A launch that extended the hold meanwhile may have set and noted a one-shot of its own.
  const isArmedNow = armedFor !== undefined && !hold.armedFor;
  const isJoinedNow = showsJoined(hold, marked);
  if (touched === 0 && !isProtectedNow && !isArmedNow && !isJoinedNow) return { isOurs: true };
  const { unprotected, ...rest } = isJoinedNow ? joinedHold(hold, rules) : hold;
  const next = {
    ...rest,
    ...(unprotected && !isProtectedNow && { unprotected }),
    nodes: hold.nodes + touched,
    ...(isArmedNow && { armedFor }),
  };
  return { isOurs: true, record: { ...record, hold: next }, ...(isProtectedNow && { protected: hold }) };
}

/** Emitted once, by the invocation that completes the start. Later launches may have moved `causedAt` since. */
function reportProtected(context: ReleaseContext, { causedAt, startedAt }: Hold): void {
  const lag = context.clock.now().getTime() - earlier(causedAt, startedAt).getTime();
  context.metrics.add("LaunchToProtectedMs", Math.max(0, lag));
}

type PendingNodes = Omit<Extract<FollowUp, { kind: "pendingNodes" }>, "kind">;

/** How long a pending node is awaited; after that the sweep marks it. */
export const giveUpAfter = minutes(10);
const delays = [15, 15, 20, 30, 30, 60, 60, 120].map(seconds);

/** The delay before the next check: short while nodes boot, longer later. */
export const delayOf = (attempt: number): Duration => delays[attempt] ?? minutes(2);

/** Queues another check for nodes that have not joined, or whose marks failed or ran out of time. */
export async function awaitPendingNodes(
  context: Context,
  pending: PendingNodes,
  marked?: Marked,
): Promise<void> {
  const { scope, attempt } = pending;
  const joined = new Set(marked?.seen.map((node) => node.instance));
  const missing = pending.awaited.filter((launch) => !joined.has(launch.instance));
  // Even a launch delivered late gets one check: after a crash it also marks the other nodes.
  const isYoung = (launch: LaunchEvent) => context.clock.now() < after(launch.launchedAt, giveUpAfter);
  const awaited = attempt === 0 ? missing : missing.filter(isYoung);
  logGivenUp(
    context,
    scope,
    missing.filter((launch) => !awaited.includes(launch)),
  );
  const isUnfinished = marked?.left ?? false;
  const shouldRetry = (marked?.failed ?? 0) > 0 && attempt < delays.length;
  if (awaited.length === 0 && !isUnfinished && !shouldRetry) return;
  // Unfinished without progress: the API server asked us to wait longer than this invocation lasts.
  const isMoving = (marked?.marked ?? 0) + (marked?.adopted ?? 0) > 0;
  const delay = isUnfinished && isMoving ? 0 : delayOf(attempt);
  // Nothing was tried where nodes only wait for their first marking.
  const tried = marked ? attempt + 1 : attempt;
  await context.followUps.enqueue({ kind: "pendingNodes", scope, awaited, attempt: tried }, delay);
}

/** A node that another invocation marked is missing from this one's list, which has only nodes without a mark. */
function logGivenUp({ log }: Context, scope: Scope, launches: readonly LaunchEvent[]): void {
  if (launches.length === 0) return;
  const instances = launches.map(({ instance }) => instance);
  log.info("stopped waiting for pending nodes: another invocation has marked them, or the sweep will", {
    scope,
    instances,
  });
}

/** Checks which awaited nodes have joined, and marks them. */
export async function markJoinedNodes(context: Context, pending: PendingNodes): Promise<void> {
  const { scope, awaited } = pending;
  const { hold } = await findRecord(context, scope);
  const isRunning = hold?.state === "held" && isKept(context.rules, scope);
  if (!isRunning || dueAt(hold, context.rules) <= context.clock.now()) {
    context.log.info("pending nodes no longer awaited: their hold is over", {
      scope,
      instances: awaited.map(({ instance }) => instance),
    });
    return;
  }
  const attempt = Math.max(1, pending.attempt);
  await awaitPendingNodes(context, { ...pending, attempt }, await markNodes(context, { scope, hold }));
}
