import { formerKeysOn, type ManagedNode, removed, setBy } from "./annotation-owners.ts";
import { isHoldId } from "./hold-id.ts";
import { holdLabel, markValue } from "./keys.ts";
import type { Decision, MarkChange } from "./plan-marks.ts";

/** The annotation key of our marks, and those of earlier deployments, as far as they are recorded. */
export type MarkKeys = Readonly<{ present: string; former: readonly string[] }>;

/**
 * Moves a mark to the present key in one change. An annotation of the node's owner under that key stays as it is: the
 * mark is removed, and the node is the owner's.
 */
export function planMove(node: ManagedNode, keys: MarkKeys): Decision<"moved" | "handed over" | "kept"> {
  const mark = markOn(node, keys);
  if (!mark) return { outcome: "kept" };
  if (mark.present === "its owner's") return { outcome: "handed over", change: removal(node, keys, mark) };
  if (mark.former.length === 0) return { outcome: "kept" };
  const { label } = mark;
  const annotations = { ...removed(mark.former), [keys.present]: markValue };
  return { outcome: "moved", change: { label, annotations } };
}

/** Removes the mark, whatever hold it is of and under whatever key; the owner's annotations stay. */
export function planRemoval(node: ManagedNode, keys: MarkKeys): Decision<"released" | "kept"> {
  const mark = markOn(node, keys);
  if (!mark) return { outcome: "kept" };
  const outcome = mark.present === "its owner's" ? "kept" : "released";
  return { outcome, change: removal(node, keys, mark) };
}

/** Names what is not ours, too, so that a mark which is completed meanwhile does not lose its label alone. */
function removal(node: ManagedNode, keys: MarkKeys, { former, present }: Mark): MarkChange {
  const all = [...keys.former, keys.present].map((key) => [key, node.annotations?.[key] ?? null] as const);
  const ours = present === "ours" ? [...former, keys.present] : former;
  return { label: null, annotations: { ...Object.fromEntries(all), ...removed(ours) } };
}

type Mark = Readonly<{
  label: string;
  /** The other keys under which the node has an annotation of ours. */
  former: readonly string[];
  /** Whose the annotation under the present key is. */
  present: "ours" | "its owner's" | "absent";
}>;

function markOn(node: ManagedNode, keys: MarkKeys): Mark | undefined {
  const label = node.labels?.[holdLabel];
  if (!isHoldId(label)) return undefined;
  const value = node.annotations?.[keys.present];
  const former = formerKeysOn(node, keys);
  if (value === undefined) return { label, former, present: "absent" };
  const by = setBy(node, keys.present);
  // Without a record of who set it, a second annotation beside a mark is the owner's.
  const isOurs = by === "us" || (by === "unknown" && former.length === 0);
  return { label, former, present: isOurs && value === markValue ? "ours" : "its owner's" };
}
