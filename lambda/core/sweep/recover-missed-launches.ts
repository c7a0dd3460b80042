import { after } from "../duration.ts";
import { attemptAll } from "../errors.ts";
import { findDemand } from "../launches/find-demand.ts";
import { startOrExtend } from "../launches/handle-launches.ts";
import type { Context, Launch } from "../ports.ts";
import { longestHold, scopeOf } from "../rules.ts";
import { admits, type Scope } from "../scope.ts";

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
