import { after, type Duration, hours, minutes, parseDuration } from "../../lambda/core/duration.ts";
import { readBudgetSchedule, whyUnreadable } from "./budget-schedule.ts";
import { isStatic, type NodePool, type NodePoolBudget } from "./objects.ts";

/** Why Karpenter removes nodes by its own choice, as budgets name it. */
export const reasons = ["Empty", "Underutilized", "Drifted"] as const;
export type Reason = (typeof reasons)[number];

/** The minutes of seven days in which no clock changes. */
const weekMinutes = 7 * 24 * 60;

/** When one reason may remove nodes of a NodePool in the coming week. */
export type Allowed = Readonly<{
  reason: Reason;
  /** Why never, where a setting other than a budget is the cause. */
  never?: string;
  /** For each minute whether a removal may begin. */
  open: readonly boolean[];
  /** For each minute whether a budget that names nodes is active; without one, nothing limits. */
  limited: readonly boolean[];
  /** How many nodes at once, wherever any may go. */
  limits: readonly string[];
}>;

/** What a NodePool allows, for each reason. */
export const allowedIn = (pool: NodePool, from: Date, length = weekMinutes): readonly Allowed[] =>
  reasons.map((reason) => allowedFor(pool, reason, from, length));

function allowedFor(pool: NodePool, reason: Reason, from: Date, length: number): Allowed {
  const budgets = pool.spec.disruption.budgets
    .filter((budget) => !budget.reasons || budget.reasons.includes(reason))
    .map((budget) => ({ budget, active: activeMinutes(budget, from, length) }));
  const never = whyNever(pool, reason);
  const limits = new Set<string>();
  const [open, limited]: [boolean[], boolean[]] = [[], []];
  for (let minute = 0; minute < length; minute++) {
    const active = budgets.filter((one) => one.active[minute]).map(({ budget }) => budget.nodes);
    limited.push(active.length > 0);
    const isOpen = never === undefined && !active.some(isNone);
    open.push(isOpen);
    if (isOpen) limits.add(limitOf(active));
  }
  return { reason, ...(never && { never }), open, limited, limits: [...limits] };
}

/** Whether Karpenter may remove an empty or underutilized node at any time of the week. */
export const mayConsolidate = (allowed: readonly Allowed[]): boolean =>
  allowed.some(({ reason, open }) => reason !== "Drifted" && open.some(Boolean));

/** Budgets whose schedule Karpenter cannot read: then it removes no node by its own choice, whatever their reasons are. */
export const unreadableIn = ({ spec }: NodePool): readonly NodePoolBudget[] =>
  spec.disruption.budgets.filter(({ schedule }) => schedule && whyUnreadable(schedule) !== undefined);

/** Consolidation is turned off by policy, by time, or by a fixed number of nodes; drift by none of them. */
function whyNever(pool: NodePool, reason: Reason): string | undefined {
  if (unreadableIn(pool).length > 0) return "a budget's schedule cannot be read";
  if (reason === "Drifted") return undefined;
  const { consolidationPolicy, consolidateAfter } = pool.spec.disruption;
  if (isStatic(pool)) return "the NodePool is static (replicas)";
  if (consolidateAfter === "Never") return "consolidateAfter is Never";
  if (reason === "Underutilized" && consolidationPolicy === "WhenEmpty")
    return "consolidationPolicy is WhenEmpty";
  return undefined;
}

export const isNone = (nodes: string): boolean => /^0+%?$/.test(nodes);

/** The smallest counts; a percentage and a number cannot be compared without the number of nodes. */
function limitOf(active: readonly string[]): string {
  const [percents, counts] = [
    active.filter((one) => one.endsWith("%")),
    active.filter((one) => !one.endsWith("%")),
  ];
  const least = (all: readonly string[]) =>
    all.toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)).slice(0, 1);
  const [percent, count] = [least(percents), least(counts)];
  if (count.length === 0 && percent[0] === "100%") return "any number of nodes";
  const all = [...percent.map((one) => `${one} of nodes`), ...count.map((one) => `${one} nodes`)];
  return all.length > 1
    ? `up to the smaller of ${all.join(" and ")}`
    : all[0]
      ? `up to ${all[0]}`
      : "any number of nodes";
}

/** The minutes of the week in which a budget counts: from each time of its schedule on for its duration, in UTC. */
export function activeMinutes(
  { schedule, duration }: NodePoolBudget,
  from: Date,
  length = weekMinutes,
): readonly boolean[] {
  const active = new Array<boolean>(length).fill(!schedule);
  if (!schedule || whyUnreadable(schedule) !== undefined) return active;
  const lasts = readDuration(duration ?? "");
  const { last, next } = readBudgetSchedule(schedule);
  const until = after(from, minutes(length));
  for (let hit = last(from) ?? next(from); hit && hit < until; hit = next(hit)) {
    const begin = Math.round((hit.getTime() - from.getTime()) / minutes(1));
    active.fill(true, Math.max(0, begin), Math.max(0, begin + lasts / minutes(1)));
  }
  return active;
}

/** As Go writes durations: 8h0m0s. */
export const readDuration = (text: string): Duration => parseDuration(text) ?? 0;

/** The stretches of a week in which a condition holds, as minutes from its begin; a week that wraps around is not joined. */
export function stretchesOf(
  minutesOf: readonly boolean[],
): readonly Readonly<{ from: number; to: number }>[] {
  const found: { from: number; to: number }[] = [];
  for (const [minute, holds] of minutesOf.entries()) {
    const current = found.at(-1);
    if (!holds) continue;
    if (current?.to === minute) current.to = minute + 1;
    else found.push({ from: minute, to: minute + 1 });
  }
  return found;
}

export const hoursOf = (minutesOf: readonly boolean[]): number => minutesOf.filter(Boolean).length / 60;

/** The time of a clock on a wall there, as if it were UTC. */
export function wallClock(moment: Date, timeZone: string): Date {
  const parts = Object.fromEntries(
    clockOf(timeZone)
      .formatToParts(moment)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts;
  return new Date(Date.UTC(year, month - 1, day, hour, minute));
}

const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const digits = "2-digit";
  const all = {
    year: "numeric",
    month: digits,
    day: digits,
    hour: digits,
    minute: digits,
    hourCycle: "h23",
  } as const;
  const clock = clocks.get(timeZone) ?? new Intl.DateTimeFormat("en-US", { timeZone, ...all });
  clocks.set(timeZone, clock);
  return clock;
}

/** How many minutes the seven days from a midnight on have there. */
export const weekLength = (midnight: Date, timeZone: string): number =>
  (midnightBefore(after(midnight, hours(7 * 24 + 12)), timeZone).getTime() - midnight.getTime()) / minutes(1);

/** Clocks change at full quarters of an hour. */
const quarter = minutes(15);

/** When the day began there: at the first of two midnights, or later where the clock leaves midnight out. */
export function midnightBefore(moment: Date, timeZone: string): Date {
  const dayOf = (time: number) => wallClock(new Date(time), timeZone).toISOString().slice(0, 10);
  const today = dayOf(moment.getTime());
  let begin = Math.floor(moment.getTime() / quarter) * quarter;
  while (dayOf(begin - quarter) === today) begin -= quarter;
  return new Date(begin);
}
