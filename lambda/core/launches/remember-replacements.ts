import { after, type Duration, hours } from "../duration.ts";
import type { RememberedReplacement, ScopeRecord } from "../holds/hold.ts";
import type { Rules } from "../rules.ts";

/** Of more at once the oldest are forgotten; Karpenter's event still names them for an hour. */
export const mostRemembered = 500;
/** Longer than a sweep looks back at nodes without a mark under any settings: the next ones may have a longer hold. */
const rememberedFor: Duration = hours(25);

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
  now: Date,
): ScopeRecord | undefined {
  const known = new Set(record.replacements?.map(({ instance }) => instance));
  const added = replacements.filter(({ instance }) => !known.has(instance));
  if (added.length === 0) return undefined;
  const oldest = after(now, -rememberedFor);
  const kept = [...(record.replacements ?? []), ...added]
    .filter(({ launchedAt }) => launchedAt > oldest)
    .toSorted((a, b) => a.launchedAt.getTime() - b.launchedAt.getTime())
    .slice(-mostRemembered);
  return { ...record, replacements: kept };
}
