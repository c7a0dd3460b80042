import { holderName, holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import type { KubernetesCall } from "../../lambda/kubernetes/client.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { usersLabels } from "../contracts/nodes.ts";

const { annotation } = Karpenter.v1;
const older = Karpenter["v0.31"].annotation;
const [h1, h2] = [holdId(1), holdId(2)];

type Texts = Readonly<Record<string, string | null>>;
/** An entry of managedFields: which fields a manager owns. */
type Owner = Readonly<Record<string, string | object>>;
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
export const users = (value: string): Node => ({ annotations: { [annotation]: value } });
const never = { labels: { [holdLabel]: "never" } };

const owner = (manager: string, operation: "Apply" | "Update", fieldsV1: object): Owner => ({
  manager,
  operation,
  apiVersion: "v1",
  time: "2026-01-01T00:00:00Z",
  fieldsType: "FieldsV1",
  fieldsV1,
});
const labelsOf = (...keys: readonly string[]) => ({
  "f:metadata": { "f:labels": Object.fromEntries(keys.map((key) => [`f:${key}`, {}])) },
});
const markFields = {
  "f:metadata": { "f:labels": { [`f:${holdLabel}`]: {} }, "f:annotations": { [`f:${annotation}`]: {} } },
};
const ownAnnotation = { "f:metadata": { "f:annotations": { [`f:${annotation}`]: {} } } };
const kubeletOf = (...labels: readonly string[]) => owner("kubelet", "Update", labelsOf(...labels));
const usersOwned = { ...users("true"), owners: [owner("gitops", "Apply", ownAnnotation), kubeletOf("pool")] };
const [gitops, kubelet] = [owner("gitops", "Apply", labelsOf("team")), kubeletOf("pool", "zone")];
const owned = { labels: { team: "a", zone: "b" }, owners: [gitops, kubelet] };
/** Checks the whole policy's cost, too. */
const many = Array.from({ length: 30 }, (_, i) => Array.from({ length: 10 }, (_, j) => `l${i}-${j}`));
const manyOwned = {
  labels: Object.fromEntries(many.flat().map((key) => [key, "x"])),
  owners: many.map((keys, i) => owner(`m${i}`, "Apply", labelsOf(...keys))),
};
/** As many as the API server keeps; it folds the oldest of more. */
const tenOwners = Array.from({ length: 10 }, (_, i) => owner(`m${i}`, "Update", labelsOf(`l${i}`)));
const forge = (...managedFields: readonly object[]): Request => ({ metadata: { managedFields } });
const oursBeside = (fieldsV1: object) => forge(gitops, kubelet, owner(holderName, "Update", fieldsV1));

/** What the policy admits of the holder's changes. */
export const admitted: readonly Case[] = [
  ["a mark on a bare node", {}, both(h1, "true")],
  ["a mark on a node with other annotations", { annotations: { "example.com/x": "y" } }, both(h1, "true")],
  ["adopting an older hold's mark", mark(h1), label(h2)],
  ["completing a half mark while adopting it", label(h1) as Node, both(h2, "true")],
  ["releasing a mark", mark(h1), both(null, null)],
  ["releasing a half mark", label(h1) as Node, label(null)],
  ["handing an annotation with the user's value over", mark(h1, "8h"), label(null)],
  ["a mark on a node whose labels have owners", owned, both(h1, "true")],
  ["a mark with owners sent back as they were", owned, { ...both(h1, "true"), ...forge(gitops, kubelet) }],
  ["a mark on a node with hundreds of owned labels", manyOwned, both(h1, "true")],
  ["releasing a mark", { ...mark(h1), owners: [owner(holderName, "Update", markFields)] }, both(null, null)],
  [
    "releasing a mark that others own",
    { ...mark(h1), owners: [owner("x", "Apply", markFields)] },
    both(null, null),
  ],
  ["adopting a mark that others own", { ...mark(h1), owners: [owner("x", "Update", markFields)] }, label(h2)],
  ["a mark on a node with as many owners as there may be", { owners: tenOwners }, both(h1, "true")],
  ["adopting a mark there", { ...mark(h1), owners: tenOwners }, label(h2)],
  ["releasing a mark there", { ...mark(h1), owners: tenOwners }, both(null, null)],
  [
    "a mark with which the server folds old owners",
    { owners: tenOwners },
    {
      ...both(h1, "true"),
      ...forge(...tenOwners.slice(2), owner("ancient-changes", "Update", labelsOf("l0", "l1"))),
    },
  ],
];

/** Who owns a field decides what its manager's next server-side apply removes. */
const forgeries: readonly (readonly [what: string, change: Request])[] = [
  [
    "giving a taint to a manager",
    forge({ ...gitops, fieldsV1: { ...labelsOf("team"), "f:spec": { "f:taints": {} } } }, kubelet),
  ],
  ["giving a label to a manager", forge({ ...gitops, fieldsV1: labelsOf("team", "zone") }, kubelet)],
  ["giving labels to a new manager", forge(gitops, kubelet, owner("helm", "Apply", labelsOf("zone")))],
  ["giving labels to itself", oursBeside(labelsOf("zone"))],
  ["giving a taint to itself", oursBeside({ "f:spec": { "f:taints": {} } })],
  ["giving the spec to itself", oursBeside({ "f:spec": {} })],
  ["giving finalizers to itself", oursBeside({ "f:metadata": { "f:finalizers": {} } })],
  ["taking a label from its manager", forge(gitops, kubeletOf("pool"))],
  ["taking all from an applying manager", forge(kubelet)],
  ["taking all from an updating manager", forge(gitops)],
  [
    "taking all from an updating manager, as if folded",
    forge(gitops, { ...kubelet, manager: "ancient-changes" }),
  ],
  ["taking all from everyone", forge({})],
  ["making an apply of an update", forge(gitops, { ...kubelet, operation: "Apply" })],
  ["changing a manager's version", forge(gitops, { ...kubelet, apiVersion: "v2" })],
  ["changing a manager's subresource", forge(gitops, { ...kubelet, subresource: "status" })],
  ["renaming a manager", forge({ ...gitops, manager: "argo" }, kubelet)],
];

/** What it refuses. */
export const refused: readonly Case[] = [
  ["cordoning", {}, { spec: { unschedulable: true } }],
  ["cordoning beside a mark", {}, { ...both(h1, "true"), spec: { unschedulable: true } }],
  ["a taint", {}, { spec: { taints: [{ key: "x", effect: "NoSchedule" }] } }],
  ["a finalizer", {}, { metadata: { finalizers: ["example.com/x"] } }],
  ["a finalizer beside a mark", {}, { ...both(h1, "true"), metadata: { finalizers: ["example.com/x"] } }],
  ["another label", {}, { labels: { x: "y" } }],
  ["another label beside a mark", {}, { labels: { x: "y", [holdLabel]: h1 }, ...annotate("true") }],
  ["taking another label off", { labels: { x: "y" } }, { labels: { x: null } }],
  ["changing another label", { labels: { x: "y" } }, { labels: { x: "z" } }],
  ["another annotation", {}, { annotations: { x: "y" } }],
  ["another annotation beside a mark", {}, { annotations: { x: "y", [annotation]: "true" }, ...label(h1) }],
  ["taking another annotation off", { annotations: { x: "y" } }, { annotations: { x: null } }],
  ["the annotation without the label", {}, annotate("true")],
  ["the label without the annotation", {}, label(h1)],
  ["a label without a value", {}, label("")],
  ["the annotation with another value", {}, both(h1, "false")],
  ["the label taken off while the mark's annotation stays", mark(h1), label(null)],
  ["the annotation taken off while the label stays", mark(h1), annotate(null)],
  ["the mark's annotation set to another value", mark(h1), annotate("false")],
  ["adopting a half mark without completing it", label(h1) as Node, label(h2)],
  ["adopting an annotation with the user's value", mark(h1, "8h"), label(h2)],
  ["turning the user's value into a mark", mark(h1, "8h"), both(h2, "true")],
  ["taking a user's value off with the label", mark(h1, "8h"), both(null, null)],
  ["taking the user's annotation off", users("true"), annotate(null)],
  ["changing the user's annotation", users("true"), annotate("false")],
  ["a label beside the user's annotation", users("true"), label(h1)],
  ["a label beside the user's other value", users("false"), label(h1)],
  ["a mark over the user's value", users("false"), both(h1, "true")],
  ["another value on a node that is never held", { ...never, ...users("4h") }, annotate("true")],
  ["setting never", {}, label("never")],
  ["setting never with an annotation", {}, both("never", "true")],
  ["turning a mark into never", mark(h1), label("never")],
  ["setting another label than a hold's id", {}, both("team-2", "true")],
  ["another value for generateName", {}, { metadata: { generateName: "x" } }],
  ["a mark in another manager's name", {}, { ...both(h1, "true"), manager: "kubectl" }],
  ["taking the user's annotation from its owner", usersOwned, forge(kubeletOf("pool"))],
  [
    "owning the user's annotation, too",
    usersOwned,
    forge(...usersOwned.owners, owner(holderName, "Update", ownAnnotation)),
  ],
  ...forgeries.flatMap(([what, change]): Case[] => [
    [what, owned, change],
    [`${what}, beside a mark`, owned, { ...both(h1, "true"), ...change }],
  ]),
  ...usersLabels.flatMap((users): Case[] => [
    [`a mark on a node labelled "${users}"`, label(users) as Node, both(h1, "true")],
    [`an annotation on a node labelled "${users}"`, label(users) as Node, annotate("true")],
    [`taking the label "${users}" off`, label(users) as Node, label(null)],
    [`adopting the annotation beside "${users}"`, mark(users), label(h1)],
    [`taking "${users}" and the annotation off`, mark(users), both(null, null)],
    [`taking the annotation beside "${users}" off`, mark(users), annotate(null)],
  ]),
];

const underOlder: Node = { annotations: { [older]: "true" } };
const olderMark: Node = { ...label(h1), ...underOlder } as Node;
const underBoth: Node = { ...label(h1), annotations: { [older]: "true", [annotation]: "true" } } as Node;
const withoutOlder: Request = { annotations: { [older]: null } };
const withoutOlderMark: Request = { ...label(null), ...withoutOlder };
export const formerMark = { before: olderMark, removed: withoutOlderMark };

/** What it admits while a former key is recorded. */
export const admittedWhileChanging: readonly Case[] = [
  ["a mark under the present key", {}, both(h1, "true")],
  ["removing a mark under the former key", olderMark, withoutOlderMark],
  ["removing a mark under the present key", mark(h1), both(null, null)],
];

/** What it refuses meanwhile. */
export const refusedWhileChanging: readonly Case[] = [
  ["a mark under the former key", {}, olderMark],
  ["completing half a mark under the former key", label(h1) as Node, { ...label(h2), ...underOlder }],
  ["a label beside the user's former key alone", underOlder, label(h1)],
  ["taking the user's former key off", underOlder, withoutOlder],
  [
    "a mark in place of a user's annotation",
    underOlder,
    { ...label(h1), annotations: { [older]: null, [annotation]: "true" } },
  ],
  ["a mark beside the user's other key", underOlder, both(h1, "true")],
  ["a mark beside the user's other value", { annotations: { [older]: "8h" } }, both(h1, "true")],
  ["removing the present key beside the other one", underBoth, both(null, null)],
  ["removing the former key beside the other one", underBoth, withoutOlderMark],
  ["removing both", underBoth, { ...label(null), annotations: { [older]: null, [annotation]: null } }],
  ["taking one of two off", underBoth, withoutOlder],
  ["adding the present key to a mark", olderMark, both(h2, "true")],
  ["the present key without the label", {}, annotate("true")],
  ["taking the former key off and leaving the label", olderMark, withoutOlder],
];

const mayApply = ({ labels = {}, annotations = {}, metadata = {} }: Request) =>
  ![...Object.values(labels), ...Object.values(annotations)].includes(null) && !("managedFields" in metadata);
const metadataOf = ({ labels, annotations, metadata }: Request) => ({
  ...metadata,
  ...(labels ? { labels } : {}),
  ...(annotations ? { annotations } : {}),
});
const specOf = ({ spec }: Request) => (spec ? { spec } : {});
export const merge = (change: Request) => ({ metadata: metadataOf(change), ...specOf(change) });

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
  "merge patch": (change) => ({
    query: by(change),
    contentType: "application/merge-patch+json",
    body: merge(change),
  }),
  "strategic merge patch": (change) => ({
    query: by(change),
    contentType: "application/strategic-merge-patch+json",
    body: merge(change),
  }),
  // Server-side apply cannot remove a field that another manager owns, and takes no managedFields.
  "server-side apply": (change) =>
    mayApply(change)
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
