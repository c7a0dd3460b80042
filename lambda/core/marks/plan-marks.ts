import { isHoldId } from "./hold-id.ts";
import { holdLabel, isExcluded, markValue } from "./keys.ts";

/** What planning must know of a node: its metadata, as a list of metadata brings it. */
export type NodeMeta = Readonly<{
  name: string;
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
  createdAt: Date;
}>;

type Operation = Readonly<{ op: "add" | "replace" | "remove" | "test"; path: string; value?: unknown }>;
export type JsonPatch = readonly Operation[];

/** What is to be done with a node, and what it counts as once it is done. */
export type Plan<Outcome extends string> =
  | Readonly<{ patch: JsonPatch; outcome: Outcome }>
  | Readonly<{ patch?: undefined; outcome: Outcome }>;

/** `passed` nodes changed between list and patch so that they are no business of this hold any more. */
export type MarkOutcome = "marked" | "adopted" | "userHeld" | "already" | "passed";
export type ReleaseOutcome = "released" | "kept";

/** The mark is put only where the annotation is absent, or is an older hold's; each patch tests what it was planned on. */
export function planMark(node: NodeMeta, holdId: string, annotation: string): Plan<MarkOutcome> {
  const label = node.labels?.[holdLabel];
  const value = node.annotations?.[annotation];
  if (label === holdId) return { outcome: "already" };
  if (isExcluded(label)) return { outcome: "passed" };
  const isMarked = label !== undefined;
  if (value === undefined) {
    const patch = [
      ...put(node, "annotations", annotation, markValue),
      ...put(node, "labels", holdLabel, holdId),
    ];
    return { patch, outcome: isMarked ? "adopted" : "marked" };
  }
  if (!isMarked || value !== markValue) return { outcome: "userHeld" };
  // The annotation stays while the label changes: the node is protected all the time.
  const patch = [test("annotations", annotation, markValue), ...put(node, "labels", holdLabel, holdId)];
  return { patch, outcome: "adopted" };
}

/** Both halves go where both are ours; an annotation with another value is the user's now, and only the label goes. */
export function planRelease(node: NodeMeta, holdId: string, annotation: string): Plan<ReleaseOutcome> {
  const label = node.labels?.[holdLabel];
  const value = node.annotations?.[annotation];
  if (label !== holdId) return { outcome: label === undefined && value === undefined ? "released" : "kept" };
  const takeLabel = take("labels", holdLabel, holdId);
  if (value === markValue) {
    return { patch: [...take("annotations", annotation, markValue), ...takeLabel], outcome: "released" };
  }
  const unchanged = node.annotations
    ? [test("annotations", annotation, value ?? null)]
    : [testNoMap("annotations")];
  return { patch: [...unchanged, ...takeLabel], outcome: value === undefined ? "released" : "kept" };
}

/**
 * One patch moves a mark from one annotation key to another. A node that has both was marked under the new key
 * while the move went on, and only loses the old one; unless that is its owner's.
 */
export function planMove(
  node: NodeMeta,
  from: string,
  to: string,
  whose: "ours" | "its owner's",
): Plan<"moved" | "kept"> {
  const label = node.labels?.[holdLabel];
  const { [from]: old, [to]: present } = node.annotations ?? {};
  if (!isHoldId(label) || old !== markValue) return { outcome: "kept" };
  if (present !== undefined && whose !== "ours") return { outcome: "kept" };
  const isMarked = present === markValue;
  if (present !== undefined && !isMarked) return planHandOver(node, from, to, "moved");
  const both = isMarked ? [test("annotations", to, markValue)] : put(node, "annotations", to, markValue);
  const patch = [test("labels", holdLabel, label), ...both, ...take("annotations", from, markValue)];
  return { patch, outcome: "moved" };
}

/** Where the owner holds a node under the new key already, the mark under the old one goes and the node is the owner's. */
export function planHandOver<Outcome extends string>(
  node: NodeMeta,
  from: string,
  to: string,
  outcome: Outcome,
): Plan<Outcome | "kept"> {
  const label = node.labels?.[holdLabel];
  const { [from]: old, [to]: present } = node.annotations ?? {};
  if (!isHoldId(label) || present === undefined) return { outcome: "kept" };
  const mark = old === markValue ? take("annotations", from, markValue) : [];
  return { patch: [test("annotations", to, present), ...mark, ...take("labels", holdLabel, label)], outcome };
}

type Half = "labels" | "annotations";

const pathOf = (half: Half, key: string) =>
  `/metadata/${half}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;

const test = (half: Half, key: string, value: string | null): Operation => ({
  op: "test",
  path: pathOf(half, key),
  value,
});

const testNoMap = (half: Half): Operation => ({ op: "test", path: `/metadata/${half}`, value: null });

function put(node: NodeMeta, half: Half, key: string, value: string): JsonPatch {
  const map = node[half];
  // Where there is no map yet, a path into it is an error to the server.
  if (!map) return [testNoMap(half), { op: "add", path: `/metadata/${half}`, value: { [key]: value } }];
  return [test(half, key, map[key] ?? null), { op: "add", path: pathOf(half, key), value }];
}

const take = (half: Half, key: string, value: string): JsonPatch => [
  test(half, key, value),
  { op: "remove", path: pathOf(half, key) },
];
