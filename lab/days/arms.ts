import { formatDuration, hours, minutes, parseDuration } from "../../lambda/core/duration.ts";
import { checkSettings, type RawSettings } from "../../lambda/settings.ts";

export type Budget = Readonly<{
  nodes: string;
  schedule?: string;
  duration?: string;
  reasons?: readonly ("Underutilized" | "Empty" | "Drifted")[];
}>;

/** How Karpenter may disrupt the nodes of every NodePool. */
export type Disruption = Readonly<{
  consolidateAfter: string;
  consolidationPolicy?: "WhenEmptyOrUnderutilized" | "WhenEmpty" | "Balanced";
  /** Beside the budgets of all arms. */
  budgets?: readonly Budget[];
}>;

/** One way to run the same work: Karpenter's own settings, and the holder's where it runs. */
export type Arm = Readonly<{
  name: string;
  about: string;
  disruption: Disruption;
  holder?: RawSettings;
  /** The minor version of Karpenter 1 that it needs. */
  since?: number;
  /** What the owners of Jobs do for them. */
  jobs?: keyof typeof careForJobs;
}>;

/**
 * The budgets of every arm. Consolidation is not limited, so that no arm is slowed by accident; of drifted nodes one tenth
 * goes at a time, which is Karpenter's default.
 */
export const baseBudgets: readonly Budget[] = [{ nodes: "100%" }, { nodes: "10%", reasons: ["Drifted"] }];

const after = (consolidateAfter: string): Arm => ({
  name: `consolidate-after-${consolidateAfter}`,
  about: `Karpenter alone, \`consolidateAfter: ${consolidateAfter}\``,
  disruption: { consolidateAfter },
});

const hold = (length: string, consolidateAfter: string): Arm => ({
  name: `hold-${length}${consolidateAfter === "0s" ? "" : `-beside-${consolidateAfter}`}`,
  about: `the holder, \`hold=${length}\`, beside \`consolidateAfter: ${consolidateAfter}\``,
  disruption: { consolidateAfter },
  holder: { hold: length },
});

const pays = ({
  relaunchCost,
  evictionCost,
  beside: consolidateAfter = "30s",
}: Readonly<{ relaunchCost: string; evictionCost: string; beside?: string | undefined }>): Arm => ({
  name: `auto-${relaunchCost}-${evictionCost}${consolidateAfter === "30s" ? "" : `-beside-${consolidateAfter}`}`,
  about: `the holder, \`hold=auto\`, \`relaunchCost=${relaunchCost}\`, \`evictionCost=${evictionCost}\`, beside \`consolidateAfter: ${consolidateAfter}\``,
  disruption: { consolidateAfter },
  holder: { hold: "auto", relaunchCost, evictionCost },
});

const open = minutes(6);

/** The start of each period in the form of cron, six minutes later; undefined where an hour or a day has no whole number of them. */
function closes(every: number): string | undefined {
  if (every % minutes(1) !== 0 || every <= open) return undefined;
  if (every === hours(1)) return "6 * * * *";
  if (hours(1) % every === 0) return `6-59/${every / minutes(1)} * * * *`;
  return every % hours(1) === 0 && hours(24) % every === 0 ? `6 */${every / hours(1)} * * *` : undefined;
}

/** A budget that allows consolidation in the first six minutes of each period; empty nodes go at any time. */
function budget(every: string, consolidateAfter = "30s"): Arm {
  const period = parseDuration(every) ?? 0;
  const schedule = closes(period) ?? "";
  const duration = formatDuration(period - open);
  return {
    name: `budget-every-${every}${consolidateAfter === "30s" ? "" : `-beside-${consolidateAfter}`}`,
    about: `Karpenter alone, a budget that allows consolidation in six minutes of each ${every === "1h" ? "hour" : every} (empty nodes go at any time), \`consolidateAfter: ${consolidateAfter}\``,
    disruption: {
      consolidateAfter,
      budgets: [{ nodes: "0", reasons: ["Underutilized"], schedule, duration }],
    },
  };
}

/** A budget that bars consolidation from an hour of each day on, as for business hours; empty nodes go at any time. */
const closedAt = (hour: string, duration: string): Arm => ({
  name: `budget-closed-at-${hour}-for-${duration}`,
  about: `Karpenter alone, a budget that bars consolidation from ${hour}:00 for ${duration} of each day (empty nodes go at any time), \`consolidateAfter: 30s\``,
  disruption: {
    consolidateAfter: "30s",
    budgets: [{ nodes: "0", reasons: ["Underutilized"], schedule: `0 ${hour} * * *`, duration }],
  },
});

/** Every arm that the whole comparison runs. */
export const arms: readonly Arm[] = [
  after("0s"),
  after("30s"),
  after("1m"),
  after("5m"),
  after("20m"),
  {
    name: "when-empty",
    about: "Karpenter alone, `consolidationPolicy: WhenEmpty`, `consolidateAfter: 5m`",
    disruption: { consolidateAfter: "5m", consolidationPolicy: "WhenEmpty" },
  },
  {
    name: "balanced",
    about: "Karpenter alone, `consolidationPolicy: Balanced`, `consolidateAfter: 30s` (1.14 and later)",
    disruption: { consolidateAfter: "30s", consolidationPolicy: "Balanced" },
    since: 14,
  },
  {
    name: "budget-empty",
    about: "Karpenter alone, a budget that lets only empty nodes go, `consolidateAfter: 30s`",
    disruption: { consolidateAfter: "30s", budgets: [{ nodes: "0", reasons: ["Underutilized"] }] },
  },
  { ...budget("1h"), name: "budget-hourly" },
  budget("30m"),
  hold("20m", "0s"),
  hold("20m", "30s"),
  hold("10m", "30s"),
  {
    name: "auto",
    about: "the holder, `hold=auto`, beside `consolidateAfter: 30s`",
    disruption: { consolidateAfter: "30s" },
    holder: { hold: "auto" },
  },
  {
    name: "auto-evictions",
    about: "the holder, `hold=auto`, `evictionCost=10m`, beside `consolidateAfter: 30s`",
    disruption: { consolidateAfter: "30s" },
    holder: { hold: "auto", evictionCost: "10m" },
  },
];

/** Names that `armOf` also knows, with any durations. */
export const armPatterns = [
  "consolidate-after-DURATION",
  "budget-every-PERIOD (20m, 30m, 2h, … of an hour or a day)",
  "budget-every-PERIOD-beside-DURATION",
  "budget-closed-at-HOUR-for-DURATION (of each day)",
  "hold-DURATION",
  "hold-DURATION-beside-DURATION",
  "auto-RELAUNCHCOST-EVICTIONCOST",
  "auto-RELAUNCHCOST-EVICTIONCOST-beside-DURATION",
  "ARM-max-hold-DURATION (of an arm of the holder)",
  "ARM-jobs-marked (the pods of all Jobs have do-not-disrupt)",
  "ARM-jobs-apart (all Jobs have a NodePool of their own, with WhenEmpty)",
] as const;

const pattern =
  /^(?:consolidate-after-(?<after>\w+)|budget-every-(?<period>\w+)|budget-closed-at-(?<hour>\d|1\d|2[0-3])-for-(?<closed>\w+)|hold-(?<hold>\d\w*)|auto-(?<relaunch>\d\w*)-(?<eviction>\d\w*))(?:-beside-(?<beside>\d\w*))?$/;

/** What the owners of Jobs may do for them, beside any arm. */
const careForJobs = {
  marked: "the pods of Jobs marked do-not-disrupt",
  apart: "Jobs in a NodePool of their own with `consolidationPolicy: WhenEmpty`",
} as const;

const limitIn = /^(?<limited>.+)-max-hold-(?<maxHold>\d\w*)$/;

const careIn = /^(?<beside>.+)-jobs-(?<jobs>marked|apart)$/;

/** The arm of this name; undefined where there is none. */
export function armOf(name: string): Arm | undefined {
  const care = careIn.exec(name)?.groups as { beside: string; jobs: keyof typeof careForJobs } | undefined;
  if (care) {
    const { beside, jobs } = care;
    const arm = armOf(beside);
    if (!arm || arm.jobs) return undefined;
    return { ...arm, name, about: `${arm.about}, ${careForJobs[jobs]}`, jobs };
  }
  const known = arms.find((arm) => arm.name === name);
  if (known) return known;
  const limit = limitIn.exec(name)?.groups as { limited: string; maxHold: string } | undefined;
  if (limit) return withMaxHold(name, limit);
  const groups = pattern.exec(name)?.groups ?? {};
  const { after: alone, period, hour, closed, hold: length, beside, relaunch, eviction } = groups;
  const lengths = [alone, period, closed, length, beside, relaunch, eviction];
  if (lengths.some((text) => text !== undefined && parseDuration(text) === undefined)) return undefined;
  if (hour && closed) return beside === undefined ? closedAt(hour, closed) : undefined;
  if (alone) return beside === undefined ? after(alone) : undefined;
  if (period) return closes(parseDuration(period) ?? 0) ? budget(period, beside) : undefined;
  if (length) return hold(length, beside ?? "0s");
  return relaunch && eviction ? pays({ relaunchCost: relaunch, evictionCost: eviction, beside }) : undefined;
}

function withMaxHold(
  name: string,
  { limited, maxHold }: Readonly<{ limited: string; maxHold: string }>,
): Arm | undefined {
  const arm = armOf(limited);
  if (!arm?.holder || arm.holder.maxHold || parseDuration(maxHold) === undefined) return undefined;
  return { ...arm, name, about: `${arm.about}, \`maxHold=${maxHold}\``, holder: { ...arm.holder, maxHold } };
}

/** Why an arm of any durations cannot be played. */
export function problemsOf({ disruption, holder }: Arm): readonly string[] {
  const { consolidateAfter, budgets = [] } = disruption;
  const isKarpenters = /^(\d+[hms])+$/.test(consolidateAfter);
  const lengths = budgets.flatMap(({ duration }) => duration ?? []);
  return [
    ...(isKarpenters ? [] : [`consolidateAfter must be like 90s, 20m or 24h, not "${consolidateAfter}"`]),
    ...lengths
      .filter((length) => !/^(?=\d)(\d+h)?(\d+m)?$/.test(length))
      .map((length) => `a budget's duration must be like 30m, 13h or 1h30m, not "${length}"`),
    ...(holder ? checkSettings({ cluster: "lab", ...holder }).problems : []),
  ];
}

/** Whether this version of Karpenter, like 1.15.0, has what the arm needs. */
export const isAvailable = (arm: string, karpenter: string): boolean =>
  Number(karpenter.split(".")[1]) >= (armOf(arm)?.since ?? 0);
