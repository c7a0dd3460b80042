import { holdLabel } from "../core/marks/keys.ts";
import type { MarkChange, NodeMeta } from "../core/marks/plan-marks.ts";

type Operation = Readonly<{ op: "add" | "remove" | "test"; path: string; value?: unknown }>;
type Values = Readonly<Record<string, string | null>>;

/**
 * A change of a node's mark as a JSON Patch. It is refused as a whole unless this is still the same node, not another
 * of the same name, and every key that the decision rests on is as it was read.
 */
export const markPatch = (node: NodeMeta, { label, annotations }: MarkChange): readonly Operation[] => [
  test("/metadata/uid", node.uid),
  ...changes("/metadata/annotations", node.annotations, annotations),
  ...changes("/metadata/labels", node.labels, { [holdLabel]: label }),
];

function changes(path: string, before: NodeMeta["labels"], wanted: Values): Operation[] {
  if (before) return Object.entries(wanted).flatMap(([key, value]) => change(path, key, before[key], value));
  const added = Object.entries(wanted).filter(([, value]) => value !== null);
  // Where there is no map yet, the server refuses every path into it.
  const add: Operation[] = added.length > 0 ? [{ op: "add", path, value: Object.fromEntries(added) }] : [];
  return [test(path, null), ...add];
}

function change(map: string, key: string, before: string | undefined, wanted: string | null): Operation[] {
  const path = `${map}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  const unchanged = test(path, before ?? null);
  if (wanted === (before ?? null)) return [unchanged];
  return [unchanged, wanted === null ? { op: "remove", path } : { op: "add", path, value: wanted }];
}

const test = (path: string, value: string | null): Operation => ({ op: "test", path, value });
