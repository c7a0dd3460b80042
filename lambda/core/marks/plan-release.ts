import { isHoldId } from "./hold-id.ts";
import { holderName, holdLabel, markValue } from "./keys.ts";
import type { Decision, NodeMeta } from "./plan-marks.ts";

/** A node's metadata with the managers that the API server records for its annotations. */
export type ManagedNode = NodeMeta &
  Readonly<{ writers: readonly Readonly<{ manager: string; annotations: readonly string[] }>[] }>;

/** The annotation key of our marks, and those of earlier deployments, as far as they are recorded. */
export type MarkKeys = readonly [present: string, ...former: string[]];

/** Which mark is to be removed: this hold's, or that of any hold where none is named. */
export type MarkToRelease = Readonly<{ holdId?: string; keys: MarkKeys }>;

export type ReleaseOutcome = "released" | "kept";

/**
 * Removes a mark: the label, and every annotation that is ours, also under a key of an earlier deployment. Annotations
 * of the node's user stay; a node with one under the present key counts as kept.
 */
export function planRelease(node: ManagedNode, { holdId, keys }: MarkToRelease): Decision<ReleaseOutcome> {
  const { labels, annotations = {} } = node;
  const label = labels?.[holdLabel];
  const [present] = keys;
  const isAnnotated = annotations[present] !== undefined;
  if (!isHoldId(label) || (holdId !== undefined && label !== holdId))
    return { outcome: label === undefined && !isAnnotated ? "released" : "kept" };
  const ours = oursOn(node, keys);
  const after = [...keys, ...ours].map((key) => [key, ours.has(key) ? null : (annotations[key] ?? null)]);
  return {
    outcome: isAnnotated && !ours.has(present) ? "kept" : "released",
    change: { label: null, annotations: Object.fromEntries(after) },
  };
}

/** The annotations of a marked node that are ours. */
function oursOn(node: ManagedNode, keys: MarkKeys): ReadonlySet<string> {
  const [present, ...former] = keys;
  const marks = Object.entries(node.annotations ?? {}).flatMap(([key, value]) =>
    value === markValue ? [{ key, by: setBy(node, key) }] : [],
  );
  const others = marks.filter(
    ({ key, by }) => key !== present && (by === "us" || (by === "unknown" && former.includes(key))),
  );
  // Without former keys, what is beside our label is ours; with them, the user may have set the present key before us.
  const isOurs = (by: SetBy) =>
    by === "us" || (others.length === 0 && (by === "unknown" || former.length === 0));
  const own = marks.filter(({ key, by }) => key === present && isOurs(by));
  return new Set([...others, ...own].map(({ key }) => key));
}

type SetBy = "us" | "another manager" | "unknown";

/** Who set an annotation, as far as the API server recorded it. */
function setBy({ writers }: ManagedNode, key: string): SetBy {
  const managers = writers
    .filter(({ annotations }) => annotations.includes(key))
    .map(({ manager }) => manager);
  if (managers.length === 0) return "unknown";
  return managers.every((manager) => manager === holderName) ? "us" : "another manager";
}
