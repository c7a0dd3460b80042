import { attemptAll } from "../attempt-all.ts";
import { after } from "../duration.ts";
import { changeRecord, wholeClusterRecord } from "../holds/change-record.ts";
import { watermarkOf } from "../holds/hold.ts";
import { protect } from "../launches/hold-nodes.ts";
import { awaitPendingNodes } from "../launches/pending-nodes.ts";
import { markNodes } from "../marks/mark-nodes.ts";
import type { Launch, Ports } from "../ports.ts";
import { armRelease } from "../releases/arm-release.ts";
import { finishRelease } from "../releases/release-nodes.ts";
import { scopeOf } from "../rules.ts";
import { admits, type Scope } from "../scope.ts";
import { decideSweep, type SweepDecision } from "./decide-sweep.ts";
import { releaseOrphanedMarks } from "./orphaned-marks.ts";

/** Compares record, nodes and clock from scratch and repairs what events lost; one failure does not stop the rest. */
export async function sweep(ports: Ports, deadline: Date): Promise<void> {
  await attemptAll([
    // Before the scopes mark what is unmarked: a mark would hide that nobody told of the launch.
    () => recoverMissedLaunches(ports, deadline),
    async () => {
      const scopes = await ports.holds.scopes();
      await attemptAll(scopes.map((scope) => () => sweepScope(ports, scope, deadline)));
    },
    () => measure(ports, deadline),
  ]);
  await ports.journal.noteSweep(ports.clock.now());
}

async function sweepScope(ports: Ports, scope: Scope, deadline: Date): Promise<void> {
  const whole = await wholeClusterRecord(ports, scope);
  const decision: SweepDecision = await changeRecord(ports, scope, (record) =>
    decideSweep(record, watermarkOf(record, whole), ports.rules, ports.clock.now()),
  );
  const { action, because } = decision;
  ports.log.info("sweep decided", {
    scope,
    action,
    because,
    ...(decision.action !== "leave" && { holdId: decision.hold.id }),
  });
  if (decision.action === "leave") return;

  const { hold } = decision;
  if (decision.action === "release") {
    // At every sweep, not only when it is closed: marks that cannot be taken off must not be silent.
    ports.metrics.add("ReleaseLagMs", Math.max(0, ports.clock.now().getTime() - hold.expiresAt.getTime()));
    await finishRelease(ports, scope, hold, deadline);
    return;
  }
  if (decision.action === "outlast") return armRelease(ports, scope, hold, decision.armFor);
  // The hold is recorded, so marking need not wait for a scheduler that may be out of order.
  const marked = await markNodes(ports, scope, hold, deadline);
  await awaitPendingNodes(ports, { scope, awaited: [], attempt: 0 }, marked);
  await armRelease(ports, scope, hold, decision.armFor);
}

/** Finds young nodes that nobody marked, asks when they were launched, and treats them as the launches they were. */
async function recoverMissedLaunches(ports: Ports, deadline: Date): Promise<void> {
  const { rules, clock } = ports;
  const nodes = await ports.nodes.joinedSince(after(clock.now(), -rules.hold), "unmarked", deadline);
  const known = await ports.launches.find(nodes.map((node) => node.instance));
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
          makeUpFor(ports, scope, missed, deadline),
    ),
  );
}

async function makeUpFor(
  ports: Ports,
  scope: Scope,
  missed: readonly Launch[],
  deadline: Date,
): Promise<void> {
  const { action } = await protect(ports, scope, missed, [], deadline);
  if (action === "ignore" || action === "await") return;
  ports.log.warn("launches were missed", { scope, instances: missed.map((launch) => launch.instance) });
  ports.metrics.add("MissedLaunches", missed.length);
}

/** Marks without a hold come off; the gauges say what is held now. */
async function measure(ports: Ports, deadline: Date): Promise<void> {
  const { held } = await releaseOrphanedMarks(ports, deadline);
  const holds = (await ports.holds.all()).flatMap(({ hold }) => hold ?? []);
  const ages = holds.map((hold) => ports.clock.now().getTime() - hold.startedAt.getTime());
  ports.metrics.add("HoldActive", holds.length);
  ports.metrics.add("OldestHoldMs", Math.max(0, ...ages));
  ports.metrics.add("NodesHeldNow", held);
}
