import {
  after,
  type Duration,
  earlier,
  formatDuration,
  hours,
  later,
  minutes,
  parseDuration,
} from "../../lambda/core/duration.ts";
import { endOf } from "../../lambda/core/launches.ts";
import type { History, Removal } from "./history.ts";
import { isChangeable, isStatic, type NodePool } from "./objects.ts";
import type { PriceOf } from "./prices.ts";
import { canBeIdle, type HolderRules, isReplayed, type Kept, type Policy, replay } from "./replay.ts";
import { AutoLooks } from "./replay-auto.ts";

export type Question = Readonly<{
  /** What a launch and an evicted pod are worth, in time of their node. */
  relaunchCost: Duration;
  evictionCost: Duration;
  /** The constant holds to try. */
  holds: readonly Duration[];
  /** Each NodePool's own settings; without them Karpenter's settings are not tried. */
  nodePools: readonly NodePool[];
  priceOf?: PriceOf;
}>;

/** What applies a candidate: settings of NodePools, or of the holder. */
export type Applies =
  | Readonly<{
      by: "nodepool";
      isFor: (pool: NodePool) => boolean;
      disruption: (pool: NodePool) => Readonly<Record<string, unknown>>;
    }>
  | Readonly<{ by: "holder"; settings: Readonly<Record<string, string>> }>;

/** A candidate against what is there now, over the same history: a month of it where it is long enough. */
export type Candidate = Readonly<{
  name: string;
  /** Nothing applies what is there already. */
  applies?: Applies;
  /** Hours that nodes stay longer. */
  nodeHours: number;
  /** Launches and evictions that it makes needless. */
  launches: number;
  evictions: number;
  /** What it saves by the one price, in node-hours, and in money. */
  saves: number;
  money?: number;
  /** Nodes that it would still keep at the end: for how long, the history does not show, so it is not ranked. */
  open: number;
}>;

export type Ranking = Readonly<{
  /** Why nothing is ranked. */
  because?: string;
  /** What the figures are of. */
  per?: "in that time" | "a month";
  /** The best first; last those that are not ranked. */
  candidates: readonly Candidate[];
  /** Why `hold=auto` was replayed without what it learns. */
  unlearned?: string;
  /** Removals that were replayed, and those that no candidate changes. */
  replayed: number;
  unchanged: number;
}>;

/** From fewer removals, nothing is concluded. */
export const fewest = 3;
/** From a shorter history no month is estimated. */
const shortest = hours(48);

/** Karpenter goes on with what it began: a hold changes nothing in its first minutes. */
const begunBefore = minutes(3);

const tried: Duration = minutes(5);
/** Underutilized nodes may go in the last six minutes of each hour, or of each half. */
const scheduledBudgets = [
  { minutes: 60, schedule: "0 * * * *" },
  { minutes: 30, schedule: "0,30 * * * *" },
] as const;
const open = 6;

/** Ranks settings of Karpenter and of the holder by one price: node time, launches and evictions. */
export function rank(history: History, question: Question): Ranking {
  const replayed = history.removals.filter(isReplayed).length;
  const unlearned = whyUnlearned(history, question);
  const counts = {
    ...{ replayed, unchanged: history.removals.length - replayed },
    ...(unlearned !== undefined && { unlearned }),
  };
  if (replayed < fewest)
    return {
      because: `Karpenter removed ${replayed} nodes in that time that a setting could have kept: too few to rank anything by`,
      candidates: [],
      ...counts,
    };
  const length = history.until.getTime() - history.from.getTime();
  const isMonth = length >= shortest;
  const factor = isMonth ? hours(30 * 24) / length : 1;
  const candidates = policies(question, unlearned === undefined)
    .map((one) => judge(one, replay(history, one.policy), question, factor))
    .sort((a, b) => Number(a.open > 0) - Number(b.open > 0) || b.saves - a.saves);
  return { per: isMonth ? "a month" : "in that time", candidates, ...counts };
}

/** A node that is needed again before Karpenter would remove it is in no history: without these, the others mislead. */
function whyUnlearned({ removals }: History, { nodePools, relaunchCost }: Question): string | undefined {
  for (const name of new Set(removals.filter(canBeIdle).map(({ nodePool }) => nodePool))) {
    const { spec } = nodePools.find(({ metadata }) => metadata.name === name) ?? {};
    if (!spec) return `the consolidateAfter of NodePool ${name} is unknown`;
    const { consolidateAfter } = spec.disruption;
    const hides = (parseDuration(consolidateAfter) ?? relaunchCost) > relaunchCost / 2;
    if (hides)
      return `consolidateAfter ${consolidateAfter} of NodePool ${name} hides nodes that are soon needed again`;
  }
  return undefined;
}

type Named = Readonly<{ name: string; policy: Policy; applies?: Applies }>;

function policies(question: Question, learns: boolean): readonly Named[] {
  const { nodePools, holds, relaunchCost, evictionCost } = question;
  const present = new Map(nodePools.map(({ metadata, spec }) => [metadata.name, spec.disruption]));
  const waitOf = ({ nodePool }: Removal) => parseDuration(present.get(nodePool)?.consolidateAfter ?? "") ?? 0;
  // Karpenter has waited already.
  const idleSince = (removal: Removal) => after(removal.at, -waitOf(removal));
  // A node that is too large has wasted its price when a part of its time is worth it.
  const wasteOf = ({ pods, share }: Removal) => (relaunchCost + pods * evictionCost) / (share || 1);
  const isTried = (pool: NodePool) => isChangeable(pool) && !isStatic(pool);
  const waitsLess = (pool: NodePool) =>
    isTried(pool) && (parseDuration(pool.spec.disruption.consolidateAfter) ?? tried) < tried;
  const consolidates = (pool: NodePool) =>
    isTried(pool) && pool.spec.disruption.consolidationPolicy !== "WhenEmpty";
  const ofNodePools = (
    name: string,
    applies: Omit<Extract<Applies, { by: "nodepool" }>, "by">,
    waits: Policy["waits"],
  ): readonly Named[] =>
    nodePools.some(applies.isFor)
      ? [{ name, policy: { waits }, applies: { by: "nodepool", ...applies } }]
      : [];
  const karpenters = [
    ...ofNodePools(
      `consolidateAfter ${formatDuration(tried)}`,
      { isFor: waitsLess, disruption: () => ({ consolidateAfter: formatDuration(tried) }) },
      (removal) => after(removal.at, Math.max(0, tried - waitOf(removal))),
    ),
    ...ofNodePools(
      "WhenEmpty",
      { isFor: consolidates, disruption: () => ({ consolidationPolicy: "WhenEmpty" }) },
      ({ reason, at }) => (reason === "Underutilized" ? undefined : at),
    ),
    ...scheduledBudgets.flatMap(({ minutes: period, schedule }) => {
      const budget = { nodes: "0", schedule, duration: `${period - open}m`, reasons: ["Underutilized"] };
      return ofNodePools(
        `budget ${open} of ${period} min`,
        {
          isFor: consolidates,
          disruption: ({ spec }) => ({ budgets: [...spec.disruption.budgets, budget] }),
        },
        ({ reason, at }) => (reason === "Underutilized" ? nextOpening(at, minutes(period)) : at),
      );
    }),
  ];
  return [
    { name: "as it is", policy: { waits: ({ at }) => at } },
    ...karpenters,
    ...holds.map((hold): Named => {
      const maxHold = Math.max(limits.maxHold, hold);
      const rules = { hold, auto: false, ...limits, maxHold };
      const more = hold > limits.maxHold ? { maxHold: formatDuration(maxHold) } : {};
      const waits: Policy["waits"] = (removal, on) =>
        isHeld(on, removal) ? endOf(on, rules).at : removal.at;
      const name = `hold=${formatDuration(hold)}`;
      return {
        name,
        policy: { waits, rules },
        applies: { by: "holder", settings: { hold: formatDuration(hold), ...more } },
      };
    }),
    {
      name: "hold=auto",
      policy: {
        rules: autoRules,
        waits: (removal, on, letGo) => {
          if (!isHeld(on, removal)) return removal.at;
          const end = endOf(on, autoRules).at;
          const due = canBeIdle(removal) ? letGo : after(idleSince(removal), wasteOf(removal));
          return due ? earlier(end, later(removal.at, due)) : end;
        },
        auto: { idleSince, looks: () => new AutoLooks(question, learns) },
      },
      applies: {
        by: "holder",
        settings: {
          hold: "auto",
          relaunchCost: formatDuration(relaunchCost),
          evictionCost: formatDuration(evictionCost),
        },
      },
    },
  ];
}

/** The holder's defaults. */
const limits = { maxHold: hours(2), breather: minutes(10) };
const autoRules: HolderRules = { hold: minutes(20), auto: true, ...limits };

type OnHold = Parameters<Policy["waits"]>[1];

const isHeld = (hold: OnHold, { at }: Removal): hold is NonNullable<OnHold> =>
  hold !== undefined && after(hold.startedAt, begunBefore) <= at;

function nextOpening(at: Date, period: Duration): Date {
  const opensIn = period - minutes(open) - (at.getTime() % period);
  return after(at, Math.max(0, opensIn));
}

function judge(
  { name, applies }: Named,
  kept: readonly Kept[],
  question: Question,
  factor: number,
): Candidate {
  const { relaunchCost, evictionCost, priceOf } = question;
  const parts = kept.map(({ removal, from, to, spared, isOpen }) => {
    const time = (removal.share ?? 1) * (to.getTime() - from.getTime());
    const launches = spared ? 1 : 0;
    const evictions = spared || isOpen ? removal.pods : 0;
    const saves = launches * relaunchCost + evictions * evictionCost - time;
    const money = (saves / hours(1)) * (priceOf?.(removal.instanceType) ?? 0);
    return { time, launches, evictions, saves, money, open: isOpen ? 1 : 0 };
  });
  type Part = (typeof parts)[number];
  const total = (of: keyof Part) => parts.reduce((all, one) => all + one[of], 0);
  const sum = (of: keyof Part) => factor * total(of);
  return {
    name,
    ...(applies && { applies }),
    nodeHours: sum("time") / hours(1),
    launches: sum("launches"),
    evictions: sum("evictions"),
    saves: sum("saves") / hours(1),
    ...(priceOf && { money: sum("money") }),
    open: total("open"),
  };
}
