import { after, type Duration, hours } from "../duration.ts";
import type { RememberedReplacement, ScopeRecord } from "../holds/hold.ts";
import { longestHold, type Rules } from "../rules.ts";

/** Of more at once the oldest are forgotten; Karpenter's event still names them for an hour. */
export const mostRemembered = 500;
/** Longer than a sweep looks back at nodes without a mark. */
const longerThanHold: Duration = hours(1);

/** The instances that never count as demand, whatever Karpenter's events say now. */
export const rememberedReplacements = (
  { replacements = [] }: ScopeRecord,
  rules: Pick<Rules, "replacements">,
): ReadonlySet<string> =>
  new Set(rules.replacements === "ignore" ? replacements.map(({ instance }) => instance) : []);

/** The record that remembers these replacements, so that none starts a hold when its event has expired. */
export function remember(
  record: ScopeRecord,
  replacements: readonly RememberedReplacement[],
  rules: Rules,
  now: Date,
): ScopeRecord | undefined {
  const known = new Set(record.replacements?.map(({ instance }) => instance));
  const added = replacements.filter(({ instance }) => !known.has(instance));
  if (added.length === 0) return undefined;
  const oldest = after(now, -(longestHold(rules) + longerThanHold));
  const kept = [...(record.replacements ?? []), ...added]
    .filter(({ launchedAt }) => launchedAt > oldest)
    .toSorted((a, b) => a.launchedAt.getTime() - b.launchedAt.getTime())
    .slice(-mostRemembered);
  return { ...record, replacements: kept };
}
