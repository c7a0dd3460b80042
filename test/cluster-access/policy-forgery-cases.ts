import { holderName } from "../../lambda/core/marks/keys.ts";
import { allLabels, folded, forge, gitops, labelsOf, owner, owns, tenOwners } from "./policy-owners.ts";
import { type Case, marking, type Node, type Request } from "./policy-requests.ts";

export const kubeletOf = (...labels: readonly string[]) =>
  owner("kubelet", "Update", owns({ labels: [".", ...labels], annotations: [".", "x"] }));
export const kubelet = kubeletOf("pool", "zone");
/** A node whose labels and annotations others own. */
export const owned: Node = {
  labels: { team: "a", zone: "b" },
  annotations: { x: "y" },
  owners: [gitops, kubelet],
};
const oursBeside = (fieldsV1: object) => forge(gitops, kubelet, owner(holderName, "Update", fieldsV1));

const allAnnotations = owns({ annotations: [] });

/** Who owns a field decides what its manager's next server-side apply removes. */
const forgeries: readonly (readonly [what: string, change: Request])[] = [
  [
    "giving a taint to a manager",
    forge({ ...gitops, fieldsV1: { ...labelsOf("team"), "f:spec": { "f:taints": {} } } }, kubelet),
  ],
  ["giving a label to a manager", forge({ ...gitops, fieldsV1: labelsOf("team", "zone") }, kubelet)],
  ["giving all labels to a manager", forge({ ...gitops, fieldsV1: labelsOf(".", "team") }, kubelet)],
  [
    "giving all annotations to a manager",
    forge({ ...gitops, fieldsV1: owns({ labels: ["team"], annotations: [] }) }, kubelet),
  ],
  ["giving labels to a new manager", forge(gitops, kubelet, owner("helm", "Apply", labelsOf("zone")))],
  ["giving all labels to a new manager", forge(gitops, kubelet, owner("helm", "Apply", allLabels))],
  ["giving all annotations to a new manager", forge(gitops, kubelet, owner("helm", "Apply", allAnnotations))],
  ["giving all metadata to a new manager", forge(gitops, kubelet, owner("helm", "Apply", owns({})))],
  ["giving labels to itself", oursBeside(labelsOf("zone"))],
  ["giving all labels to itself", oursBeside(allLabels)],
  ["giving all annotations to itself", oursBeside(allAnnotations)],
  ["giving all metadata to itself", oursBeside(owns({}))],
  ["giving a taint to itself", oursBeside({ "f:spec": { "f:taints": {} } })],
  ["giving the spec to itself", oursBeside({ "f:spec": {} })],
  ["giving finalizers to itself", oursBeside({ "f:metadata": { "f:finalizers": {} } })],
  ["taking a label from its manager", forge(gitops, kubeletOf("pool"))],
  [
    "taking a label from its manager by a field within",
    forge({ ...gitops, fieldsV1: { "f:metadata": { "f:labels": { "f:team": { "f:x": {} } } } } }, kubelet),
  ],
  [
    "taking all keys of a map from its manager, which keeps the map",
    forge(gitops, owner("kubelet", "Update", owns({ labels: [], annotations: [".", "x"] }))),
  ],
  ["taking all from an applying manager", forge(kubelet)],
  ["taking all from an updating manager", forge(gitops)],
  [
    "taking all from an updating manager, as if folded",
    forge(gitops, { ...kubelet, manager: "ancient-changes" }),
  ],
  [
    "taking all from an updating manager, as if ten others had updated the node",
    forge(
      gitops,
      folded(labelsOf("pool", "zone")),
      ...tenOwners.map((one) => ({ ...one, fieldsV1: allLabels })),
    ),
  ],
  [
    "giving all labels to a new manager, as if ten others had updated the node",
    forge(gitops, owner("helm", "Apply", allLabels), folded(labelsOf("pool", "zone")), ...tenOwners),
  ],
  ["taking all from everyone", forge({})],
  ["forgetting all owners", forge()],
  ["making an apply of an update", forge(gitops, { ...kubelet, operation: "Apply" })],
  ["changing a manager's version", forge(gitops, { ...kubelet, apiVersion: "v2" })],
  ["changing a manager's subresource", forge(gitops, { ...kubelet, subresource: "status" })],
  ["renaming a manager", forge({ ...gitops, manager: "argo" }, kubelet)],
];

/** Forged owners, alone and beside a mark. */
export const refusedForgeries: readonly Case[] = forgeries.flatMap(([what, change]): Case[] => [
  [what, owned, change],
  [`${what}, beside a mark`, owned, marking(change)],
]);
