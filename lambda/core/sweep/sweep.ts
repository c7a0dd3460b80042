import { attemptAll } from "../attempt-all.ts";
import { after } from "../duration.ts";
import { changeRecord, wholeClusterRecord } from "../holds/change-record.ts";
import { watermarkOf } from "../holds/hold.ts";
import { findDemand } from "../launches/find-demand.ts";
import { protect } from "../launches/hold-nodes.ts";
import { awaitPendingNodes } from "../launches/pending-nodes.ts";
import { markNodes } from "../marks/mark-nodes.ts";
import type { Context, Launch } from "../ports.ts";
import { armRelease } from "../releases/arm-release.ts";
import { extendWhileUsed } from "../releases/extend-while-used.ts";
import { finishRelease } from "../releases/release-nodes.ts";
import { longestHold, scopeOf } from "../rules.ts";
import { admits, type Scope } from "../scope.ts";
import { decideSweep, type SweepDecision } from "./decide-sweep.ts";
import { releaseOrphanedMarks } from "./orphaned-marks.ts";

/** Compares record, nodes and clock from scratch and repairs what events lost; one failure does not stop the rest. */
export async function sweep(context: Context): Promise<void> {
  await attemptAll([
    // Before the scopes mark what is unmarked: a mark would hide that nobody told of the launch.
    () => recoverMissedLaunches(context),
    async () => {
      const scopes = await context.holds.scopes();
      await attemptAll(scopes.map((scope) => () => sweepScope(context, scope)));
    },
    () => measure(context),
  ]);
  await context.journal.noteSweep(context.clock.now());
}

async function sweepScope(context: Context, scope: Scope): Promise<void> {
  await extendWhileUsed(context, scope);
  const whole = await wholeClusterRecord(context, scope);
  const decision: SweepDecision = await changeRecord(context, scope, (record) =>
    decideSweep(record, watermarkOf(record, whole), context.rules, context.clock.now()),
  );
  const { action, because } = decision;
  context.log.info("sweep decided", {
    scope,
    action,
    because,
    ...(decision.action !== "leave" && { holdId: decision.hold.id }),
  });
  if (decision.action === "leave") return;

  const { hold } = decision;
  if (decision.action === "release") {
    // At every sweep, not only when it is closed: marks that cannot be taken off must not be silent.
    context.metrics.add(
      "ReleaseLagMs",
      Math.max(0, context.clock.now().getTime() - hold.expiresAt.getTime()),
    );
    await finishRelease(context, scope, hold);
    return;
  }
  if (decision.action === "outlast") return armRelease(context, scope, hold, decision.armFor);
  // The hold is recorded, so marking need not wait for a scheduler that may be out of order.
  const marked = await markNodes(context, scope, hold);
  await awaitPendingNodes(context, { scope, awaited: [], attempt: 0 }, marked);
  await armRelease(context, scope, hold, decision.armFor);
}

/** Finds young nodes that nobody marked, asks when they were launched, and treats them as the launches they were. */
async function recoverMissedLaunches(context: Context): Promise<void> {
  const { rules, clock } = context;
  const nodes = await context.nodes.joinedSince(after(clock.now(), -longestHold(rules)), "unmarked", context);
  const known = await context.launches.find(
    nodes.map((node) => node.instance),
    context,
  );
  // A launch younger than the initial delay was not missed: it is still being put off.
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
          makeUpFor(context, scope, missed),
    ),
  );
}

async function makeUpFor(context: Context, scope: Scope, missed: readonly Launch[]): Promise<void> {
  // What is unknown yet was launched within the last minute: the next sweep sees it again.
  const { demand } = await findDemand(context, scope, missed, context.clock.now());
  if (demand.length === 0) return;
  const { action } = await protect(context, scope, demand, []);
  if (action === "ignore" || action === "await") return;
  context.log.warn("launches were missed", { scope, instances: demand.map((launch) => launch.instance) });
  context.metrics.add("MissedLaunches", demand.length);
}

/** Marks without a hold come off; the gauges say what is held now. */
async function measure(context: Context): Promise<void> {
  const { held } = await releaseOrphanedMarks(context);
  const holds = (await context.holds.all()).flatMap(({ hold }) => hold ?? []);
  const ages = holds.map((hold) => context.clock.now().getTime() - hold.startedAt.getTime());
  context.metrics.add("HoldActive", holds.length);
  context.metrics.add("OldestHoldMs", Math.max(0, ...ages));
  context.metrics.add("NodesHeldNow", held);
}
