import type { Hold, ScopeRecord } from "../../lambda/core/holds/hold.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import type { Scope } from "../../lambda/core/scope.ts";

// What the rules say, written once more: a watcher who asked the core itself would share its mistakes.

/** When a hold must be over, whatever launched. */
export const latestEnd = (hold: Hold, { maxHold }: Pick<Rules, "maxHold">): Date | undefined =>
  maxHold > 0 ? new Date(hold.startedAt.getTime() + maxHold) : undefined;

/** When a hold is to be released. */
export function dueOf(hold: Hold, rules: Rules): Date {
  const end = latestEnd(hold, rules);
  return end && end < hold.expiresAt ? end : hold.expiresAt;
}

/** From when launches count, by the scope's own record or the whole cluster's. */
export function countsFrom(record: ScopeRecord | undefined, whole: ScopeRecord | undefined): Date {
  const times = [record, whole].map((one) => one?.launchesCountFrom?.getTime() ?? 0);
  return new Date(Math.max(...times));
}

/** The scope in which a launch of this NodePool is held for. */
export const scopeFor = (rules: Rules, pool: string): Scope =>
  rules.scope === "nodepool" ? `nodepool/${pool}` : "cluster";

/** Whether a scope's holds belong to the setting there is now. */
export const belongs = (rules: Rules, scope: Scope): boolean =>
  (rules.scope === "cluster") === (scope === "cluster");

/** Whether the settings let holds cover this NodePool. */
export const isCovered = ({ nodePools }: Rules, pool: string | undefined): pool is string =>
  pool !== undefined && !nodePools.except.includes(pool);
