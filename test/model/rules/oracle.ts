import type { Hold, ScopeRecord } from "../../../lambda/core/holds/hold.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import type { Scope } from "../../../lambda/core/scope.ts";

// The rules, written a second time: a check that called the core would repeat its mistakes.

/** When a hold must end, whatever is launched. */
export const latestEnd = (hold: Hold, { maxHold }: Pick<Rules, "maxHold">): Date | undefined =>
  maxHold > 0 ? new Date(hold.startedAt.getTime() + maxHold) : undefined;

/** When a hold is to be released. */
export function dueOf(hold: Hold, rules: Rules): Date {
  const end = latestEnd(hold, rules);
  return end && end < hold.expiresAt ? end : hold.expiresAt;
}

/** The time from which launches count, from the record of the scope or of the cluster. */
export function countsFrom(record: ScopeRecord | undefined, whole: ScopeRecord | undefined): Date {
  const times = [record, whole].map((one) => one?.launchesCountFrom?.getTime() ?? 0);
  return new Date(Math.max(...times));
}

/** The scope that a launch of this NodePool holds. */
export const scopeFor = (rules: Rules, pool: string): Scope =>
  rules.scope === "nodepool" ? `nodepool/${pool}` : "cluster";

/** Whether a scope's holds belong to the current setting. */
export const belongs = (rules: Rules, scope: Scope): boolean =>
  (rules.scope === "cluster") === (scope === "cluster");

/** Whether the settings let holds cover this NodePool. */
export const isCovered = ({ nodePools }: Rules, pool: string | undefined): pool is string =>
  pool !== undefined && !nodePools.except.includes(pool);

/** Whether a scope's holds cover this NodePool. */
export const isWithin = (scope: Scope, pool: string): boolean =>
  scope === "cluster" || scope === `nodepool/${pool}`;
