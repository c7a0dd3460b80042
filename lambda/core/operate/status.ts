import { describeStaircase, lengthsBySize, type SizedLength } from "../auto/staircase.ts";
import { after } from "../duration.ts";
import { describeCauses } from "../holds/causes.ts";
import { dueAt, type Hold, type ScopeRecord } from "../holds/hold.ts";
import { staircaseOf } from "../holds/learning.ts";
import { giveUpAfter } from "../holds/mark-nodes.ts";
import { untilResumed, watermarkOf } from "../holds/watermark.ts";
import type { Context } from "../ports.ts";
import { isKept, letsDriftGo, type Rules, scopeOf } from "../rules.ts";
import { admits, type Scope } from "../scope.ts";

/** One scope as an operator wants to see it. */
export type ScopeStatus = Readonly<{
  scope: Scope;
  state: "none" | "held" | "releasing" | "paused" | "breather";
  because: string;
  holdId?: string;
  since?: Date;
  until?: Date;
  launches?: number;
  extensions?: number;
  capped?: boolean;
  nodesHeld: number;
  /** The first of them by name. */
  nodes: readonly string[];
  awaited: number;
  nextSchedule?: Date;
  /** With `hold=auto`, how long holds last after bursts of each size, and why. */
  lengths?: readonly string[];
}>;

export type Status = Readonly<{
  cluster: string;
  at: Date;
  rules: Rules;
  scopes: readonly ScopeStatus[];
  nodesUserHeld: number;
  /** Nodes with the mark of a hold that no record names; the next sweep removes it. */
  nodesOrphaned?: number;
  lastSweep?: Date;
  /** What the holder cannot read in the cluster, and what that means. */
  limits: readonly string[];
}>;

/** Shows what is held, until when and why; reads only. */
export async function getStatus(context: Context): Promise<Status> {
  const now = context.clock.now();
  const marking = context.nodes.markedNodes(context);
  const [{ records }, marks, nodesUserHeld, awaited, lastSweep, limits] = await Promise.all([
    // Read after the nodes: a hold is recorded before its first mark.
    marking.then(() => context.holds.all()),
    marking,
    context.nodes.countUserHeld(context),
    countAwaited(context, now),
    context.journal.lastSweep(),
    findLimits(context),
  ]);
  const whole = records.find((record) => record.scope === "cluster");
  const shown = records.filter(
    (record) => isKept(context.rules, record.scope) || record.hold || record.quiet,
  );
  const scopes = shown.map((record) => ({
    ...describe(record, whole, context.rules, now),
    ...nodesOf(record.hold && marks.get(record.hold.id)),
    awaited: awaited.get(record.scope) ?? 0,
    ...lengthsOf(record, context.rules),
  }));
  const { rules } = context;
  const recorded = new Set(records.flatMap(({ hold }) => hold?.id ?? []));
  const orphaned = [...marks].flatMap(([holdId, names]) => (recorded.has(holdId) ? [] : names)).length;
  const optional = { ...(lastSweep && { lastSweep }), ...(orphaned > 0 && { nodesOrphaned: orphaned }) };
  const found = { scopes, nodesUserHeld, limits, ...optional };
  return { cluster: rules.cluster, at: now, rules, ...found };
}

/** The limit of node names, so that the answer stays small. */
const mostNames = 50;

const nodesOf = (names: readonly string[] = []) => ({
  nodesHeld: names.length,
  nodes: names.toSorted().slice(0, mostNames),
});

/** Nothing is missing where the settings need neither events, nor NodeClaims, nor pods. */
async function findLimits(context: Context): Promise<readonly string[]> {
  const { replacements, extendOn, letGo } = context.rules;
  const letsGo = letGo === "empty" || letsDriftGo(context.rules);
  const needsNone = replacements === "hold" && extendOn === "launches" && !letsGo;
  const [ofDemand, ofPods] = await Promise.all([
    needsNone ? [] : context.nodeClaims.limits(context),
    letGo === "empty" ? context.pods.limits(context) : [],
  ]);
  return [...ofDemand, ...ofPods];
}

const lengthsOf = (record: ScopeRecord, rules: Rules): Pick<ScopeStatus, "lengths"> =>
  rules.auto && isKept(rules, record.scope) ? { lengths: describeStaircase(staircaseOf(record, rules)) } : {};

/** With `hold=auto`, how long holds of each scope last after bursts of each size; none with a constant hold. */
export async function getLengths({
  holds,
  rules,
}: Pick<Context, "holds" | "rules">): Promise<
  readonly Readonly<{ scope: Scope; lengths: readonly SizedLength[] }>[]
> {
  if (!rules.auto) return [];
  const { records } = await holds.all();
  return records
    .filter(({ scope }) => isKept(rules, scope))
    .map((record) => ({ scope: record.scope, lengths: lengthsBySize(staircaseOf(record, rules)) }));
}

type Described = Omit<ScopeStatus, "nodesHeld" | "nodes" | "awaited" | "lengths">;

function describe(record: ScopeRecord, whole: ScopeRecord | undefined, rules: Rules, now: Date): Described {
  const { scope, hold } = record;
  if (hold) {
    const because = hold.state === "held" ? describeHeld(hold, now) : (hold.endsBecause ?? "");
    const { id: holdId, startedAt: since, launches, extensions, capped, armedFor } = hold;
    const reported = { holdId, since, until: dueAt(hold, rules), launches, extensions, capped };
    return { scope, state: hold.state, because, ...reported, ...(armedFor && { nextSchedule: armedFor }) };
  }
  const { from, quiet } = watermarkOf(record, whole);
  if (from <= now || !quiet) return { scope, state: "none", because: "no new launch that counts" };
  const { kind: state, since } = quiet;
  const because = state === "paused" ? `paused by hand: ${quiet.because}` : quiet.because;
  return { scope, state, because, since, ...(from < untilResumed && { until: from }) };
}

/** The causes of a hold, and what of its scope it holds no more. */
function describeHeld(hold: Hold, now: Date): string {
  const { narrowsAt, marksFrom } = hold;
  const isNarrow = narrowsAt !== undefined && narrowsAt <= now;
  const partly = marksFrom ? `nodes were let go, last at ${marksFrom.toISOString()}` : "";
  const held = isNarrow ? "only the used nodes of its small burst are held" : partly;
  return [describeCauses(hold), held].filter((part) => part !== "").join("; ");
}

/** Instances launched a short while ago whose node has not joined. */
async function countAwaited(context: Context, now: Date): Promise<ReadonlyMap<Scope, number>> {
  const since = after(now, -giveUpAfter);
  const launches = await context.launches.since(since, context);
  if (launches.length === 0) return new Map();
  const joined = await context.nodes.joinedSince(since, "all", context);
  const here = new Set(joined.map((node) => node.instance));
  const missing = launches.filter(
    (one) => !here.has(one.instance) && admits(context.rules.nodePools, one.nodePool),
  );
  const byScope = Map.groupBy(missing, (launch) => scopeOf(context.rules, launch.nodePool));
  return new Map([...byScope].map(([scope, ofScope]) => [scope, ofScope.length]));
}
