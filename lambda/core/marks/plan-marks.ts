import { holdLabel, isExcluded, markValue } from "./keys.ts";

/** What a decision must know of a node: its metadata, as a list of metadata brings it. */
export type NodeMeta = Readonly<{
  name: string;
  uid: string;
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
  createdAt: Date;
}>;

/**
 * What our label and annotations are to be; null where there is to be none. It names every key that the decision rests
 * on, also those that stay as they are: the change is made only where each still is as it was read.
 */
export type MarkChange = Readonly<{
  label: string | null;
  annotations: Readonly<Record<string, string | null>>;
}>;

/** What a node counts as, and what is to be changed for that. */
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
