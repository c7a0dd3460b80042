import { after, type Duration, minutes, seconds } from "../duration.ts";
import { dueAt } from "../holds/hold.ts";
import { markNodes } from "../marks/mark-nodes.ts";
import type { Context, FollowUp, LaunchEvent, Marked } from "../ports.ts";
import { isKept } from "../rules.ts";

type PendingNodes = Omit<Extract<FollowUp, { kind: "pendingNodes" }>, "kind">;

/** After so long the sweep takes over. */
export const giveUpAfter = minutes(10);
const delays = [15, 15, 20, 30, 30, 60, 60, 120].map(seconds);

/** How long to wait before the next look: often while nodes boot, seldom later. */
export const delayOf = (attempt: number): Duration => delays[attempt] ?? minutes(2);

/** Looks again later for those who have not joined; also goes on with marking that was cut short or failed. */
export async function awaitPendingNodes(
  context: Context,
  pending: PendingNodes,
  marked?: Marked,
): Promise<void> {
  const { scope, attempt } = pending;
  const joined = new Set(marked?.seen.map((node) => node.instance));
  const missing = pending.awaited.filter((launch) => !joined.has(launch.instance));
  // One look is due even for a launch delivered late: after a crash it is what marks the others, too.
  const isYoung = (launch: LaunchEvent) => context.clock.now() < after(launch.launchedAt, giveUpAfter);
  const awaited = attempt === 0 ? missing : missing.filter(isYoung);
  const givenUp = missing.filter((launch) => !awaited.includes(launch));
  if (givenUp.length > 0) {
    const instances = givenUp.map((launch) => launch.instance);
    // Whom another message's look has marked, this one never saw: it lists nodes without a mark only.
    context.log.info(
      "stopped waiting for pending nodes: another invocation has marked them, or the sweep will",
      {
        scope,
        instances,
      },
    );
  }
  const isUnfinished = marked?.left ?? false;
  const isWorthAnotherTry = (marked?.failed ?? 0) > 0 && attempt < delays.length;
  if (awaited.length === 0 && !isUnfinished && !isWorthAnotherTry) return;
  // Unfinished without any progress: the API server asked us to wait for longer than this invocation lasts.
  const isMoving = (marked?.marked ?? 0) + (marked?.adopted ?? 0) > 0;
  const delay = isUnfinished && isMoving ? 0 : delayOf(attempt);
  await context.followUps.enqueue({ kind: "pendingNodes", scope, awaited, attempt: attempt + 1 }, delay);
}

/** Looks whether awaited nodes have joined, and marks all that have. */
export async function markJoinedNodes(context: Context, pending: PendingNodes): Promise<void> {
  const { scope, awaited } = pending;
  const hold = (await context.holds.find(scope))?.hold;
  const isRunning = hold?.state === "held" && isKept(context.rules, scope);
  if (!isRunning || dueAt(hold, context.rules) <= context.clock.now()) {
    const instances = awaited.map((launch: LaunchEvent) => launch.instance);
    context.log.info("pending nodes no longer awaited: their hold is over", { scope, instances });
    return;
  }
  await awaitPendingNodes(context, pending, await markNodes(context, { scope, hold }));
}
