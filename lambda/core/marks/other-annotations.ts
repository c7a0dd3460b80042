import { Karpenter } from "./keys.ts";
import { type ManagedNode, mergedMarks, planRelease } from "./plan-marks.ts";

/**
 * The annotations of marks that are not this one, and how many nodes have each. What a node's user set is no mark: the API
 * server records who set it. Where it does not, and this annotation is no mark there, the mark is one of Karpenter's, or
 * any that may be ours.
 */
export function otherAnnotations(
  marked: readonly ManagedNode[],
  annotation: string,
): ReadonlyMap<string, number> {
  const others = new Map<string, number>();
  for (const node of marked) {
    const ours = removedFrom(node, annotation);
    const known = ours.length > 0 ? ours : karpenters.flatMap((key) => removedFrom(node, key));
    const isKnown = known.length > 0 || node.annotations?.[annotation] !== undefined;
    const keys = isKnown ? known : mergedMarks(node);
    for (const key of new Set(keys)) if (key !== annotation) others.set(key, (others.get(key) ?? 0) + 1);
  }
  return others;
}

const karpenters = Object.values(Karpenter).map(({ annotation }) => annotation);

/** The annotations that a release by this one removes. */
const removedFrom = (node: ManagedNode, annotation: string): readonly string[] =>
  Object.entries(planRelease(node, { annotation }).change?.annotations ?? {})
    .filter(([key, value]) => value === null && node.annotations?.[key] !== undefined)
    .map(([key]) => key);
