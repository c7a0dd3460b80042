import { holderName, markValue } from "./keys.ts";
import type { ManagedNode } from "./plan-marks.ts";

/**
 * The annotations of marks that are not this one, and how many nodes have each. What a node's user set is no mark: the API
 * server records who set it.
 */
export function otherAnnotations(
  marked: readonly ManagedNode[],
  annotation: string,
): ReadonlyMap<string, number> {
  const others = new Map<string, number>();
  for (const key of marked.flatMap(ourAnnotations))
    if (key !== annotation) others.set(key, (others.get(key) ?? 0) + 1);
  return others;
}

const ourAnnotations = ({ annotations = {}, writers }: ManagedNode): readonly string[] => [
  ...new Set(
    writers
      .filter(({ manager }) => manager === holderName)
      .flatMap((writer) => writer.annotations.filter((key) => annotations[key] === markValue)),
  ),
];
