import type { Duration } from "../../lambda/core/duration.ts";

/** A node that Karpenter launched. */
export type Launch = Readonly<{
  node: string;
  nodePool: string;
  at: Date;
  instanceType?: string;
  /** It replaces a node that Karpenter removes, so no pod waited for it. */
  isReplacement?: boolean;
}>;

/** A node that Karpenter chose to remove. */
export type Removal = Readonly<{
  node: string;
  nodePool: string;
  at: Date;
  /** As in budgets: Empty, Underutilized, Drifted. */
  reason: string;
  /** The pods that had to move; a command of several nodes counts them together, so each node has its part. */
  pods: number;
  /** The share of the node's time that the removal saves: less than 1 where another node replaces it; unknown for some. */
  share?: number;
  instanceType?: string;
}>;

/** What happened in a time, by Karpenter's log. */
export type History = Readonly<{
  from: Date;
  until: Date;
  launches: readonly Launch[];
  removals: readonly Removal[];
  /** Nodes that are gone, whatever the reason. */
  ended: readonly string[];
}>;

/** What other sources have of it, too. */
export type Lived = Pick<History, "launches" | "ended"> &
  Readonly<{ removals: readonly Pick<Removal, "node" | "nodePool" | "at" | "reason">[] }>;

/** What happened, by one source; what it does not have is left out, and is never 0. */
export type Account = Readonly<{
  source: string;
  from?: Date;
  /** Where it ends before it was read. */
  until?: Date;
  launched?: number;
  removed?: number;
  /** Removed nodes by reason; `Other` are those that were not chosen: expired, interrupted, deleted by hand. */
  byReason?: Readonly<Record<string, number>>;
  evicted?: number;
  jobsKilled?: number;
  /** The median of the lives of removed nodes. */
  lifetime?: Duration;
  /** Removed nodes for which another was launched within ten minutes. */
  neededAgain?: number;
}>;

export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** Karpenter writes the reasons of its commands small in the log and in metrics. */
export const titled = (reason: string): string =>
  reason.slice(0, 1).toUpperCase() + reason.slice(1).toLowerCase();
