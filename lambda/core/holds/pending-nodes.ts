import { after, type Duration, minutes, seconds } from "../duration.ts";
import type { Context, FollowUp, LaunchEvent, Marked } from "../ports.ts";
import { isKept } from "../rules.ts";
import type { Scope } from "../scope.ts";
import { dueAt } from "./hold.ts";
import { markNodes } from "./mark-nodes.ts";
import { findRecord } from "./records.ts";

type PendingNodes = Omit<Extract<FollowUp, { kind: "pendingNodes" }>, "kind">;

/** A pending node is awaited this long; after that the sweep takes over. */
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
  await context.followUps.enqueue({ kind: "pendingNodes", scope, awaited, attempt: attempt + 1 }, delay);
}

/** A node marked by another invocation is not in this one's list, which has only nodes without a mark. */
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
  await awaitPendingNodes(context, pending, await markNodes(context, { scope, hold }));
}
