import { isHoldId } from "../../lambda/core/marks/hold-id.ts";
import { holdLabel, isExcluded } from "../../lambda/core/marks/keys.ts";
import type { NodeMeta } from "../../lambda/core/marks/plan-marks.ts";
import type { NewEvent } from "./timeline.ts";

/** The label of a node's NodePool, and the annotation that shows whether it is held. */
export type NodeKeys = Readonly<{ poolLabel: string; annotation: string }>;

/** What a change of a node means; most changes, such as a heartbeat, mean nothing. */
export function nodeEventsOf(
  before: NodeMeta | undefined,
  now: NodeMeta | undefined,
  keys: NodeKeys,
): readonly NewEvent[] {
  const node = now?.name ?? before?.name ?? "";
  const nodePool = (now ?? before)?.labels?.[keys.poolLabel] ?? "";
  if (!now) return [{ kind: "node gone", node, nodePool }];
  const [was, is] = [viewOf(before, keys), viewOf(now, keys)];
  const change = markChange(node, was, is);
  return [
    ...(before ? [] : [{ kind: "node joined", node, nodePool } as const]),
    ...(change ? [change] : []),
    ...(was.isExcluded === is.isExcluded
      ? []
      : [{ kind: is.isExcluded ? "node excluded" : "node included", node } as const]),
  ];
}

type MarkView = Readonly<{ holdId: string | undefined; isAnnotated: boolean; isExcluded: boolean }>;

function viewOf(node: NodeMeta | undefined, { annotation }: NodeKeys): MarkView {
  const label = node?.labels?.[holdLabel];
  const isAnnotated = node?.annotations?.[annotation] !== undefined;
  // Our label alone does not protect a node.
  return {
    holdId: isAnnotated && isHoldId(label) ? label : undefined,
    isAnnotated,
    isExcluded: isExcluded(label),
  };
}

function markChange(node: string, before: MarkView, now: MarkView): NewEvent | undefined {
  if (now.holdId && now.holdId !== before.holdId) {
    return {
      kind: "node marked",
      node,
      holdId: now.holdId,
      ...(before.holdId && { before: before.holdId }),
    };
  }
  if (before.holdId && !now.holdId) {
    if (now.isAnnotated) return { kind: "node handed over", node };
    return { kind: "node released", node, holdId: before.holdId };
  }
  if (now.isAnnotated === before.isAnnotated) return undefined;
  return { kind: now.isAnnotated ? "node user-held" : "node let go", node };
}
