import { holdLabel, isExcluded, markValue } from "./keys.ts";

/** What a decision must know of a node: its metadata, as a list of metadata returns it. */
export type NodeMeta = Readonly<{
  name: string;
  uid: string;
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
  createdAt: Date;
}>;

/**
 * The wanted values of our label and annotations; null removes one. It names every key that the decision rests on, also
 * unchanged ones: the change is made only if each key still has the value that was read.
 */
export type MarkChange = Readonly<{
  label: string | null;
  annotations: Readonly<Record<string, string | null>>;
}>;

/** What a node counts as, and the change that it needs. */
export type Decision<Outcome extends string> = Readonly<{ outcome: Outcome; change?: MarkChange }>;

/** `passed` nodes are no part of this hold: their label excludes them, or is a younger hold's. */
export type MarkOutcome = "marked" | "adopted" | "userHeld" | "already" | "passed";

const labelOf = (node: NodeMeta) => node.labels?.[holdLabel];

type MarkOf = Readonly<{ holdId: string; annotation: string }>;

/** A node is marked where it has no annotation, and adopted where it has an older hold's mark: the younger mark wins. */
export function planMark(node: NodeMeta, { holdId, annotation }: MarkOf): Decision<MarkOutcome> {
  const label = labelOf(node);
  const value = node.annotations?.[annotation];
  if (label === holdId) return { outcome: "already" };
  if (isExcluded(label) || (label !== undefined && label > holdId)) return { outcome: "passed" };
  const isOtherHolds = label !== undefined;
  if (value !== undefined && !(isOtherHolds && value === markValue)) return { outcome: "userHeld" };
  return {
    outcome: isOtherHolds ? "adopted" : "marked",
    change: { label: holdId, annotations: { [annotation]: markValue } },
  };
}
