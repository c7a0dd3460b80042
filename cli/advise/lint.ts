import { after, type Duration, formatDuration, minutes, parseDuration } from "../../lambda/core/duration.ts";
import { isIneffective, Karpenter, markValue } from "../../lambda/core/marks/keys.ts";
import {
  activeMinutes,
  allowedIn,
  isNone,
  readDuration,
  reasons,
  stretchesOf,
  unreadableIn,
} from "./allowed.ts";
import { whyUnreadable } from "./budget-schedule.ts";
import { type Finding, lintNodes } from "./lint-nodes.ts";
import { isStatic, type NodePool, type NodePoolBudget, patchOf } from "./objects.ts";
import { describeBudget, lintOfficeHours, type OfPool, type View } from "./office-hours.ts";
import { type ClusterFacts, isMissing, orNone } from "./read.ts";

const { annotation, poolLabel } = Karpenter.v1;

/** Whatever is inert, dangerous or blocked in NodePools and on nodes. */
export function lint(facts: ClusterFacts, view: View): readonly Finding[] {
  const pools = orNone(facts.nodePools);
  return [...pools.flatMap((pool) => lintPool(pool, facts, view)), ...lintNodes(facts)];
}

const lintPool = (pool: NodePool, facts: ClusterFacts, view: View): readonly Finding[] =>
  [
    ...annotations(pool),
    ...schedules(pool),
    ...(unreadableIn(pool).length > 0 ? [] : windows(pool, view)),
    ...expiry(pool, facts, view),
    ...longConsolidateAfter(pool, facts),
  ].map(({ rule, ...rest }) => ({ rule, object: `NodePool ${pool.metadata.name}`, ...rest }));

function annotations(pool: NodePool): readonly OfPool[] {
  const { name } = pool.metadata;
  const found: OfPool[] = [];
  const own = pool.metadata.annotations[annotation];
  const value = pool.spec.template.metadata.annotations[annotation];
  if (own !== undefined)
    found.push({
      rule: "annotation-on-nodepool",
      problem: `${annotation} on the NodePool itself does nothing: only spec.template.metadata.annotations reaches nodes, and a change there drifts the present ones.`,
      change: `kubectl annotate nodepool ${name} ${annotation}-`,
    });
  if (isIneffective(annotation, value))
    found.push({
      rule: "annotation-value",
      problem: `The template annotates nodes with ${annotation}: "${value}", which protects nothing: Karpenter knows "true" alone on nodes. A change of the template drifts the present ones.`,
      change: `spec.template.metadata.annotations: { ${annotation}: "${markValue}" }`,
    });
  return found;
}

const schedules = (pool: NodePool): readonly OfPool[] =>
  unreadableIn(pool).map(({ schedule = "" }) => ({
    rule: "schedule-unreadable",
    problem: `Karpenter cannot read schedule: "${schedule}" of a budget (${whyUnreadable(schedule ?? "")}), so it consolidates no node of this NodePool and replaces none that drifted.`,
    change: 'Write five fields in UTC, like schedule: "0 9 * * 1-5"; Sunday is 0',
  }));

/** Scheduled budgets that say something else than was probably meant. */
function windows(pool: NodePool, view: View): readonly OfPool[] {
  const { budgets } = pool.spec.disruption;
  const opening = budgets.filter(({ schedule, nodes }) => schedule && !isNone(nodes));
  const closing = budgets.filter(({ schedule, nodes }) => schedule && isNone(nodes));
  return [
    ...opening.flatMap((budget) => lintOpening(pool, budget, view) ?? []),
    ...[...opening, ...closing].flatMap((budget) => lintOfficeHours(budget, view) ?? []),
  ];
}

const reasonsOf = (budget: NodePoolBudget): readonly string[] => budget.reasons ?? reasons;

/** The smallest of the active budgets counts, so a base of 0 that is always active closes the window, too. */
function lintOpening(pool: NodePool, budget: NodePoolBudget, view: View): OfPool | undefined {
  const bases = pool.spec.disruption.budgets.filter(({ schedule, nodes }) => !schedule && isNone(nodes));
  const closed = new Set(bases.flatMap(reasonsOf));
  const open = reasonsOf(budget).filter((one) => !closed.has(one));
  if (open.length === 0) return neverOpens(budget);
  const isWhole = open.length === reasonsOf(budget).length;
  return withoutBase(pool, isWhole ? budget : { ...budget, reasons: open }, view);
}

const neverOpens = (budget: NodePoolBudget): OfPool => ({
  rule: "window-never-opens",
  problem: `${describeBudget(budget)} opens nothing: the smallest active budget counts, and nodes: "0" without a schedule is always active.`,
  change:
    complement(budget) === ""
      ? 'Remove the budget of "0"'
      : `Give the budget of "0" the time outside of the window:\n${outside(budget)}`,
});

const outside = (budget: NodePoolBudget): string =>
  complement(budget) ?? '- nodes: "0"   # with a schedule and duration for that time';

function withoutBase(pool: NodePool, budget: NodePoolBudget, { week }: View): OfPool | undefined {
  const isUnlimited = allowedIn(pool, week)
    .filter(({ reason, never }) => never === undefined && (budget.reasons?.includes(reason) ?? true))
    .some(({ limited }) => !limited.every(Boolean));
  if (!isUnlimited) return undefined;
  return {
    rule: "window-without-base",
    problem: `${describeBudget(budget)} limits inside of its window, and outside nothing limits at all: any number of nodes may go there.`,
    change: `Add a budget of "0" for the time outside:\n${outside(budget)}`,
  };
}

/** The time outside of a window that opens on some days at one time; in other cases undefined. */
export function complement({ schedule, duration, reasons }: NodePoolBudget): string | undefined {
  // Any Monday 00:00 UTC: such schedules are the same each week.
  const week = new Date(Date.UTC(2024, 0, 1));
  if (!schedule || !/^\d+ \d+ \* \* \S+$|^@(daily|midnight|weekly)$/.test(schedule)) return undefined;
  const open = activeMinutes({ nodes: "1", schedule, duration }, week);
  // The week wraps around: begin where a window ends.
  const start = open.findIndex((is, minute) => is && !open[(minute + 1) % open.length]) + 1;
  const turned = [...open.slice(start), ...open.slice(0, start)];
  const closed = stretchesOf(turned.map((is) => !is)).map(({ from, to }) => ({
    at: (from + start) % open.length,
    lasts: to - from,
  }));
  const groups = Map.groupBy(closed, ({ at, lasts }) => `${at % 1440} ${lasts}`);
  const of = reasons ? `, reasons: [${reasons.join(", ")}]` : "";
  return [...groups.values()]
    .map((group) => {
      const [{ at, lasts } = { at: 0, lasts: 0 }] = group;
      const days = group.map((one) => (Math.floor(one.at / 1440) + 1) % 7).sort();
      const day = days.length === 7 ? "*" : days.join(",");
      const hour = Math.floor((at % 1440) / 60);
      return `- { nodes: "0", schedule: "${at % 60} ${hour} * * ${day}", duration: ${formatDuration(minutes(lasts))}${of} }`;
    })
    .join("\n");
}

/** Expiry ignores budgets and annotations alike. A NodeClaim keeps the value that its NodePool had at its launch. */
function expiry(pool: NodePool, { nodeClaims }: ClusterFacts, { week }: View): readonly OfPool[] {
  const { budgets } = pool.spec.disruption;
  const closed = budgets.filter(({ schedule, nodes, reasons: some }) => schedule && isNone(nodes) && !some);
  const active = closed.map((budget) => activeMinutes(budget, week));
  const ending = orNone(nodeClaims)
    .filter(({ metadata }) => metadata.labels[poolLabel] === pool.metadata.name)
    .flatMap(({ metadata: { name, creationTimestamp }, spec }) => {
      const expireAfter = spec.expireAfter ?? pool.spec.template.spec.expireAfter;
      const lasts = parseDuration(expireAfter);
      return lasts === undefined ? [] : [{ name, expireAfter, at: after(creationTimestamp, lasts) }];
    })
    .filter(({ at }) => active.some((one) => one[Math.floor((at.getTime() - week.getTime()) / minutes(1))]))
    .sort((a, b) => a.at.getTime() - b.at.getTime());
  const [first] = ending;
  if (!first) return expiryOfLaterNodes(pool, closed);
  const when = first.at.toISOString().slice(0, 16).replace("T", " ");
  return [
    {
      rule: "expires-in-window",
      problem: `expireAfter: ${first.expireAfter} ends ${ending.length} of its nodes inside of a protected window in the next seven days, first ${first.name} at ${when} UTC: expiry ignores budgets and annotations. Delete those nodes before, outside of the window. For later nodes change the NodePool; that drifts the present ones, which are then replaced within the budgets.`,
      change: "spec.template.spec.expireAfter: Never",
    },
  ];
}

/** Of the nodes that are there when a window begins, each expires before it ends, where it is as long as expireAfter. */
function expiryOfLaterNodes(pool: NodePool, closed: readonly NodePoolBudget[]): readonly OfPool[] {
  const { expireAfter } = pool.spec.template.spec;
  const lasts = parseDuration(expireAfter);
  const budget = closed.find(({ duration }) => lasts !== undefined && readDuration(duration ?? "") >= lasts);
  if (!budget || unreadableIn(pool).length > 0) return [];
  return [
    {
      rule: "expires-in-window",
      problem: `${describeBudget(budget)} protects no node to its end: each one that is there at its begin reaches expireAfter: ${expireAfter} inside of it, and expiry ignores budgets and annotations. A change drifts the present nodes, which are then replaced within the budgets.`,
      change: "spec.template.spec.expireAfter: Never",
    },
  ];
}

/** A quiet node was of use to others before. */
const long: Duration = minutes(5);

function longConsolidateAfter(pool: NodePool, { karpenter }: ClusterFacts): readonly OfPool[] {
  const { consolidateAfter } = pool.spec.disruption;
  const lasts = parseDuration(consolidateAfter) ?? 0;
  if (isStatic(pool) || lasts <= long || (!isMissing(karpenter) && karpenter < 14)) return [];
  const since = isMissing(karpenter)
    ? "If this is Karpenter 1.14 or later (its version could not be read), a"
    : "From 1.14 on a";
  return [
    {
      rule: "long-consolidate-after",
      problem: `${since} node within its consolidateAfter (${consolidateAfter}) takes no pods of nodes that are consolidated, so more nodes stay.`,
      change: patchOf(pool, { consolidateAfter: "1m" }),
    },
  ];
}
