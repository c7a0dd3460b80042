import { BrokenSetupError } from "../core/errors.ts";
import { type LabelSelector, matches } from "../core/label-selectors.ts";
import { holderName, holdLabel } from "../core/marks/keys.ts";
import type { Decision, ManagedNode, MarkChange, NodeMeta, OwnersRead } from "../core/marks/plan-marks.ts";
import type { CallContext } from "../core/ports.ts";
import { type KubernetesCaller, OutOfTimeError } from "./client.ts";
import { isRefusedByAdmission, isStatus } from "./error.ts";
import { parseNodeLife } from "./node-objects.ts";

export type NodeChange<Outcome extends string> = Readonly<{
  plan: (node: ManagedNode) => Decision<Outcome>;
  /** A node that has changed since it was listed must still match this; undefined: any may be changed. */
  candidates?: LabelSelector | undefined;
  context: CallContext;
}>;

type Changed<Outcome extends string> = Outcome | "gone" | "failed" | "left";

const mostPlans = 3;

/** Plans and patches; the failure of one node is logged and does not end the work on the others. */
export async function changeNode<Outcome extends string>(
  api: KubernetesCaller,
  node: ManagedNode,
  change: NodeChange<Outcome>,
): Promise<Changed<Outcome>> {
  try {
    return await tryChange(api, node, change);
  } catch (error) {
    if (isStatus(error, 404)) return "gone";
    if (error instanceof OutOfTimeError) return "left";
    // A refused login is not the failure of one node: the others would be refused too.
    if (error instanceof BrokenSetupError && !isStatus(error, 403)) throw error;
    change.context.log.error("a node could not be changed", { node: node.name, error });
    return "failed";
  }
}

async function tryChange<Outcome extends string>(
  api: KubernetesCaller,
  listed: ManagedNode,
  { plan, candidates, context }: NodeChange<Outcome>,
): Promise<Changed<Outcome>> {
  let node = listed;
  for (let attempt = 1; ; attempt++) {
    const { change, outcome } = plan(node);
    if (!change) return outcome;
    try {
      await api.call({ ...patchOf(node.name, markPatch(node, change)), ignoresAnswer: true }, context);
      return outcome;
    } catch (error) {
      if (attempt >= mostPlans || !isStatus(error, 422) || isRefusedByAdmission(error)) throw error;
    }
    // A `test` failed: the node has changed since it was read, so the plan is made again on what is there now.
    node = parseNodeLife(await api.call({ method: "GET", path: pathOf(node.name) }, context));
    // Another node may have got the name; this one may have left the scope.
    if (node.uid !== listed.uid || (candidates && !matches(candidates, node.labels))) return "gone";
  }
}

const pathOf = (name: string) => `/api/v1/nodes/${encodeURIComponent(name)}`;

/** A call that patches a node, and is answered with its metadata alone. */
export const patchOf = (name: string, body: unknown, contentType = "application/json-patch+json") =>
  ({
    method: "PATCH",
    path: pathOf(name),
    query: { fieldManager: holderName },
    accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    contentType,
    body,
  }) as const;

type Operation = Readonly<{ op: "add" | "remove" | "test"; path: string; value?: unknown }>;
type Values = Readonly<Record<string, string | null>>;

/**
 * A change of a node's mark as a JSON Patch. It is refused as a whole unless this is still the same node, not another
 * of the same name, and every key that the decision rests on is as it was read.
 */
export const markPatch = (
  node: NodeMeta,
  { label, annotations, owners }: MarkChange,
): readonly Operation[] => [
  test("/metadata/uid", node.uid),
  ...(owners ? ownersAsRead(owners) : []),
  ...changes("/metadata/annotations", node.annotations, annotations),
  ...changes("/metadata/labels", node.labels, { [holdLabel]: label }),
];

/** From the last entry on, because the removal of one moves those behind it. */
const ownersAsRead = ({ version, givenUp }: OwnersRead): Operation[] => [
  test("/metadata/resourceVersion", version),
  ...givenUp.toReversed().map((i): Operation => ({ op: "remove", path: `/metadata/managedFields/${i}` })),
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
