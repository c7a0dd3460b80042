import { isHoldId } from "../../lambda/core/marks/hold-id.ts";
import { holderName, holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import type { KubernetesCall } from "../../lambda/kubernetes/client.ts";
import { holdId } from "../../simulator/hold-ids.ts";

export const { annotation } = Karpenter.v1;

type Texts = Readonly<Record<string, string | null>>;
/** An entry of managedFields: which fields a manager owns. */
export type Owner = Readonly<Record<string, string | object>>;
/** A node; without `owners` a mark on it is the holder's, and the rest is the kubelet's. */
export type Node = Readonly<{ labels?: Texts; annotations?: Texts; owners?: readonly Owner[] }>;
export type Request = Readonly<{
  labels?: Texts;
  annotations?: Texts;
  metadata?: object;
  spec?: object;
  /** The field manager by whose name the change is made; the holder's unless it is given. */
  manager?: string;
}>;
export type Case = readonly [rule: string, before: Node, change: Request];

export const mark = (id: string, value = "true"): Node => ({
  labels: { [holdLabel]: id },
  annotations: { [annotation]: value },
});
export const label = (id: string | null): Request => ({ labels: { [holdLabel]: id } });
export const annotate = (value: string | null): Request => ({ annotations: { [annotation]: value } });
export const both = (id: string | null, value: string | null): Request => ({
  ...label(id),
  ...annotate(value),
});
/** A new mark, a release, and a release that leaves the annotation, with which something else changes. */
export const marking = (also: Request): Request => ({ ...both(holdId(1), "true"), ...also });
export const releasing = (also: Request): Request => ({ ...both(null, null), ...also });
export const leaving = (also: Request): Request => ({ ...label(null), ...also });
export const adopting = (also: Request): Request => ({ ...label(holdId(2)), ...also });
export const users = (value: string): Node => ({ annotations: { [annotation]: value } });

/** The path of the node that a holder tries to change. */
export const path = "/api/v1/nodes/a";
const mergePatch = "application/merge-patch+json";

/** The calls of an administrator that make this node. */
export function callsThatMake({ labels = {}, annotations = {}, owners }: Node): readonly KubernetesCall[] {
  const isMarked = isHoldId(labels[holdLabel] ?? undefined);
  const isOfMark = (key: string) => isMarked && [holdLabel, annotation].includes(key);
  const some = (texts: Texts, ofMark: boolean) =>
    Object.fromEntries(Object.entries(texts).filter(([key]) => isOfMark(key) === ofMark));
  // At least one label, so that there is always a map to patch.
  const own = { labels: { pool: "default", ...some(labels, false) }, annotations: some(annotations, false) };
  const marked = { labels: some(labels, true), annotations: some(annotations, true) };
  const patch = (fieldManager: string, metadata: object): KubernetesCall => ({
    method: "PATCH",
    path,
    query: { fieldManager },
    contentType: mergePatch,
    body: { metadata },
  });
  return [
    {
      method: "POST",
      path: "/api/v1/nodes",
      query: { fieldManager: "kubelet" },
      body: { apiVersion: "v1", kind: "Node", metadata: { name: "a", ...own } },
    },
    ...(isMarked ? [patch(holderName, marked)] : []),
    ...(owners ? [patch("kubelet", { managedFields: owners })] : []),
  ];
}

const metadataOf = ({ labels, annotations, metadata }: Request) => ({
  ...metadata,
  ...(labels ? { labels } : {}),
  ...(annotations ? { annotations } : {}),
});
const specOf = ({ spec }: Request) => (spec ? { spec } : {});
export const merge = (change: Request) => ({ metadata: metadataOf(change), ...specOf(change) });

const mayApply = ({ labels = {}, annotations = {}, metadata = {} }: Request) =>
  ![...Object.values(labels), ...Object.values(annotations)].includes(null) && !("managedFields" in metadata);
const by = ({ manager = holderName }: Request) => ({ fieldManager: manager });

/** The same change in every form that the API server accepts. */
export const forms: Readonly<
  Record<string, (change: Request, before: Node) => Omit<KubernetesCall, "method" | "path"> | undefined>
> = {
  "JSON patch": (change, before) => ({
    query: by(change),
    contentType: "application/json-patch+json",
    body: jsonPatch(change, before),
  }),
  "merge patch": (change) => ({ query: by(change), contentType: mergePatch, body: merge(change) }),
  "strategic merge patch": (change) => ({
    query: by(change),
    contentType: "application/strategic-merge-patch+json",
    body: merge(change),
  }),
  // Server-side apply cannot remove a field that another manager owns, and takes no managedFields. Where no owners are
  // recorded, it records an owner of all that was there before.
  "server-side apply": (change, { owners }) =>
    mayApply(change) && owners?.length !== 0
      ? {
          contentType: "application/apply-patch+yaml",
          query: { ...by(change), force: "true" },
          body: { apiVersion: "v1", kind: "Node", ...merge(change) },
        }
      : undefined,
};

function jsonPatch(change: Request, before: Node): object[] {
  const operations: object[] = [];
  for (const half of ["labels", "annotations"] as const) {
    const wanted = change[half];
    if (!wanted) continue;
    if (!before[half] && half === "annotations")
      operations.push({ op: "add", path: "/metadata/annotations", value: {} });
    for (const [key, value] of Object.entries(wanted)) {
      const at = `/metadata/${half}/${key.replaceAll("/", "~1")}`;
      operations.push(value === null ? { op: "remove", path: at } : { op: "add", path: at, value });
    }
  }
  for (const [key, value] of Object.entries(change.metadata ?? {})) {
    operations.push({ op: "add", path: `/metadata/${key}`, value });
  }
  for (const [key, value] of Object.entries(change.spec ?? {}))
    operations.push({ op: "add", path: `/spec/${key}`, value });
  return operations;
}
