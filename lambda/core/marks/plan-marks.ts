import { formerKeysOn, type ManagedNode, removed, setBy } from "./annotation-owners.ts";
import { isHoldId } from "./hold-id.ts";
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
export type ReleaseOutcome = "released" | "kept";

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

/**
 * Label and annotation are removed where both are ours; another value is the user's, and only the label is removed. After
 * a change of the annotation key, until all marks are moved, ours may be under the former key: only the API server's managed fields show
 * that, and who set the present key beside it.
 */
export function planRelease(node: ManagedNode, { holdId, annotation }: MarkOf): Decision<ReleaseOutcome> {
  const label = labelOf(node);
  const value = node.annotations?.[annotation];
  if (label !== holdId || !isHoldId(label)) {
    return { outcome: label === undefined && value === undefined ? "released" : "kept" };
  }
  const former = formerKeysOn(node, { present: annotation, former: [] });
  const isOurs = value === markValue && (former.length === 0 || setBy(node, annotation) === "us");
  const isUsers = value !== undefined && !isOurs;
  return {
    outcome: isUsers ? "kept" : "released",
    change: { label: null, annotations: { ...removed(former), [annotation]: isUsers ? value : null } },
  };
}
