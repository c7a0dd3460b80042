import { isHoldId } from "./hold-id.ts";
import { holderName, holdLabel, isExcluded, markValue, namesOfServer } from "./keys.ts";

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
  owners?: OwnersRead;
}>;

/**
 * The version of the node whose owners the decision rests on, which cannot be tested one by one; and our entries among
 * them that are given up: an annotation that we own, too, would stay when its user no longer applies it.
 */
export type OwnersRead = Readonly<{ version: string; givenUp: readonly number[] }>;

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

type Manager = Readonly<{ manager: string; annotations: readonly string[] }>;

/** A node's metadata with the managers that the API server records for its annotations, in its order. */
export type ManagedNode = NodeMeta & Readonly<{ version: string; writers: readonly Manager[] }>;

/** Which mark is to be removed: this hold's, or that of any hold where none is named. */
export type MarkToRelease = Readonly<{ holdId?: string; annotation: string }>;

export type ReleaseOutcome = "released" | "kept";

/**
 * Removes a mark: the label, and every annotation that is ours, also under another key. Annotations of the node's user
 * stay, also one that another manager has set or applies beside us; a node with one under this key counts as kept. The
 * label stays where the mark may be under a key that is not known here: without it nobody would find that node again.
 */
export function planRelease(
  node: ManagedNode,
  { holdId, annotation }: MarkToRelease,
): Decision<ReleaseOutcome> {
  const { labels, annotations = {}, writers, version } = node;
  const label = labels?.[holdLabel];
  const isAnnotated = annotations[annotation] !== undefined;
  if (!isHoldId(label) || (holdId !== undefined && label !== holdId))
    return { outcome: label === undefined && !isAnnotated ? "released" : "kept" };
  const ours = oursOn(node, annotation);
  if (ours.size === 0 && !isAnnotated && mergedMarks(node).length > 0) return { outcome: "kept" };
  const after = [annotation, ...ours].map((key) => [key, ours.has(key) ? null : (annotations[key] ?? null)]);
  const givenUp = writers.flatMap(({ manager, annotations: owned }, i) =>
    manager === holderName && owned.some((key) => !ours.has(key)) ? [i] : [],
  );
  return {
    outcome: isAnnotated && !ours.has(annotation) ? "kept" : "released",
    change: { label: null, annotations: Object.fromEntries(after), owners: { version, givenUp } },
  };
}

/** The annotations of a marked node that are ours. */
function oursOn(node: ManagedNode, annotation: string): ReadonlySet<string> {
  const marks = Object.entries(node.annotations ?? {}).flatMap(([key, value]) =>
    value === markValue ? [{ key, by: setBy(node, key) }] : [],
  );
  const known = marks.filter(({ by }) => by === "us");
  // Without a recorded manager, what is beside our label is ours; but not beside a mark under another key, because the
  // user may have set this key before us.
  const unknown = marks.filter(({ key, by }) => key === annotation && by === "unknown");
  return new Set((known.length > 0 ? known : unknown).map(({ key }) => key));
}

/** The annotations that may be ours under any key: the API server has merged who set them with others. */
export const mergedMarks = ({ annotations = {}, writers }: ManagedNode): readonly string[] =>
  Object.entries(annotations).flatMap(([key, value]) => {
    const isMerged = writers.some(({ manager, annotations: own }) => isServer(manager) && own.includes(key));
    return value === markValue && isMerged && !ofKubernetes.test(key) ? [key] : [];
  });

/** The kubelet sets some of these to the same value. */
const ofKubernetes = /^([^/]+\.)?(kubernetes|k8s)\.io\//;

const isServer = (manager: string) => (namesOfServer as readonly string[]).includes(manager);

type SetBy = "us" | "another manager" | "unknown";

/** Who set an annotation, as far as the API server recorded it; a user who applies the value that we set counts. */
function setBy({ writers }: ManagedNode, key: string): SetBy {
  const managers = writers
    .filter(({ annotations }) => annotations.includes(key))
    .map(({ manager }) => manager)
    .filter((manager) => !isServer(manager));
  if (managers.length === 0) return "unknown";
  return managers.every((manager) => manager === holderName) ? "us" : "another manager";
}
