import { type Duration, minutes } from "../../../lambda/core/duration.ts";
import type { Hold, ScopeRecord } from "../../../lambda/core/holds/hold.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import type { Scope } from "../../../lambda/core/scope.ts";
import { mostSkew } from "../commands.ts";

/** Nodes that boot are protected for so long, however short the hold is. */
export const bootTime: Duration = minutes(5);

/** How long a launch is held at least; with `hold=auto`, from when it was decided. */
export function leastHold({ hold, auto, extendOn }: Rules): Duration {
  if (!auto) return hold;
  return (extendOn === "use" ? minutes(1) : bootTime) - mostSkew;
}

/** How long a launch or a use is held at most: with `hold=auto`, as long as was learned, or until new nodes have joined. */
export const mostHold = ({ length }: Hold, { auto, hold }: Rules): Duration =>
  auto ? Math.max(length?.length ?? hold, bootTime) : hold;

// The rules, written a second time: a check that called the core would repeat its mistakes.

/** When a hold must end, whatever is launched. */
export const latestEnd = (hold: Hold, { maxHold }: Pick<Rules, "maxHold">): Date | undefined =>
  maxHold > 0 ? new Date(hold.startedAt.getTime() + maxHold) : undefined;

/** When a hold is to be released. */
export function dueOf(hold: Hold, rules: Rules): Date {
  const end = latestEnd(hold, rules);
  return end && end < hold.expiresAt ? end : hold.expiresAt;
}

/** Whether no node of those that were launched for a hold has joined, as far as its record says. */
export const isUnjoined = ({ burstFrom, joined }: Hold): boolean => burstFrom !== undefined && !joined;

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
