import { isDeepStrictEqual } from "node:util";
import { after, type Duration, earlier, minutes } from "./duration.ts";
import { nodeEventOf } from "./node-events.ts";
import type { Plan } from "./plan.ts";
import { nothingChanged } from "./plan-nodes.ts";
import type { Changed, Launch, NodeChange, PassContext } from "./ports.ts";

/** A launch that is found later than this was missed: its event should have come. */
const eventsTake: Duration = minutes(2);

type Cause = Readonly<{ launches?: readonly Launch[]; isSweep?: boolean }>;

/** Logs what was planned, and counts what started, was extended, was ignored or had been missed. */
export function reportPlan(context: PassContext, plan: Plan, { launches = [], isSweep }: Cause): void {
  const { log, metrics, clock } = context;
  const { record, until, because, counted, ignored, past, isChanged, steps, verdicts, since } = plan;
  const { scope } = record;
  const holdId = record.hold && { holdId: record.hold.id };
  if (isChanged || !isSweep)
    log.info("planned", {
      scope,
      because,
      steps,
      ...holdId,
      ...(until && { until }),
      launches: counted.length,
    });
  if (past) log.info("hold closed", { ...past, holdId: past.id });
  if (verdicts) context.looks?.note(scope, verdicts, record.figures);
  for (const [name, value] of [
    ["SuperfluousMs", since?.superfluous],
    ["NodesLetGo", since?.letGo],
    ["NodesSpared", since?.spared],
    ["EvictionsSpared", since?.evictionsSpared],
  ] as const)
    if (value) metrics.add(name, value);
  for (const step of steps) metrics.add(metricOf[step], 1);
  const reported = new Set(launches.map(({ instance }) => instance));
  // Each once: a NodeClaim may show the launch that an event reports.
  const inVain = new Set(ignored.map(({ instance }) => instance).filter((one) => reported.has(one))).size;
  if (inVain > 0) metrics.add("LaunchesIgnored", inVain);
  const oldest = after(clock.now(), -eventsTake);
  const missed = counted.filter(({ instance, launchedAt }) => !reported.has(instance) && launchedAt < oldest);
  if (missed.length === 0) return;
  log.warn("launches were missed", { scope, instances: missed.map(({ instance }) => instance) });
  metrics.add("MissedLaunches", missed.length);
}

const metricOf = { start: "HoldsStarted", extend: "HoldsExtended", cap: "HoldsCapped" } as const;

/** What was done to nodes, and how long the first marks of a hold took; at least so long, where there was no time for all. */
export function reportChanged({ metrics, clock, log }: PassContext, plan: Plan, changed: Changed): void {
  const { counted, steps, record } = plan;
  if (!isDeepStrictEqual(changed, nothingChanged))
    log.info("nodes changed", { scope: record.scope, holdId: record.hold?.id, ...changed });
  if (!steps.includes("start") || changed.failed > 0 || counted.length === 0) return;
  const first = counted.map(({ launchedAt }) => launchedAt).reduce(earlier);
  metrics.add("LaunchToProtectedMs", Math.max(0, clock.now().getTime() - first.getTime()));
}

/** Notes what a change of a node's mark means to those who look at the node. */
export function noteChange({ nodeEvents, rules, clock }: PassContext, change: NodeChange, plan: Plan): void {
  nodeEvents?.note(nodeEventOf(change, { plan, rules, now: clock.now() }));
}
