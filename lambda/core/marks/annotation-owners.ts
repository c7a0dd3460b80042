import { holderName, markValue } from "./keys.ts";
import type { NodeMeta } from "./plan-marks.ts";

/** A node's metadata with the managers that the API server records for its annotations. */
export type ManagedNode = NodeMeta &
  Readonly<{ writers: readonly Readonly<{ manager: string; annotations: readonly string[] }>[] }>;

/** Who set an annotation, as far as the API server recorded it. */
export function setBy({ writers }: ManagedNode, key: string): "us" | "another manager" | "unknown" {
  const managers = writers
    .filter(({ annotations }) => annotations.includes(key))
    .map(({ manager }) => manager);
  if (managers.length === 0) return "unknown";
  return managers.every((manager) => manager === holderName) ? "us" : "another manager";
}

/** The keys beside the present one under which the node has an annotation of ours: a deployment changed the key. */
export const formerKeysOn = (
  node: ManagedNode,
  { present, former }: Readonly<{ present: string; former: readonly string[] }>,
): readonly string[] =>
  Object.entries(node.annotations ?? {}).flatMap(([key, value]) => {
    if (key === present || value !== markValue) return [];
    const by = setBy(node, key);
    return by === "us" || (by === "unknown" && former.includes(key)) ? [key] : [];
  });

/** A change that removes these annotations. */
export const removed = (keys: readonly string[]): Readonly<Record<string, null>> =>
  Object.fromEntries(keys.map((key) => [key, null]));
