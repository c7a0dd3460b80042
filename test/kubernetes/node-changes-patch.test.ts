import { expect, it } from "vitest";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import type { MarkChange } from "../../lambda/core/marks/plan-marks.ts";
import { markPatch } from "../../lambda/kubernetes/node-changes.ts";
import { applyJsonPatch } from "../../simulator/fake-kubernetes/json-patch.ts";
import { noon } from "../../simulator/virtual-clock.ts";

const node = { name: "a", uid: "1", labels: { x: "y" }, annotations: { "k/1~": "true" }, createdAt: noon };
const release: MarkChange = { label: null, annotations: { "k/1~": null } };
const mark: MarkChange = { label: "h", annotations: { "k/1~": "true" } };
const apply = (metadata: object, patch: ReturnType<typeof markPatch>) =>
  applyJsonPatch(JSON.parse(JSON.stringify({ metadata })), JSON.parse(JSON.stringify(patch)));

it("changes what differs and tests what the decision rests on", () => {
  expect(markPatch(node, mark)).toEqual([
    { op: "test", path: "/metadata/uid", value: "1" },
    { op: "test", path: "/metadata/annotations/k~11~0", value: "true" },
    { op: "test", path: `/metadata/labels/${holdLabel.replace("/", "~1")}`, value: null },
    { op: "add", path: `/metadata/labels/${holdLabel.replace("/", "~1")}`, value: "h" },
  ]);
});

it("removes a mark's label and annotation", () => {
  const marked = { ...node, labels: { ...node.labels, [holdLabel]: "h" } };
  const label = `/metadata/labels/${holdLabel.replace("/", "~1")}`;
  expect(markPatch(marked, release)).toEqual([
    { op: "test", path: "/metadata/uid", value: "1" },
    { op: "test", path: "/metadata/annotations/k~11~0", value: "true" },
    { op: "remove", path: "/metadata/annotations/k~11~0" },
    { op: "test", path: label, value: "h" },
    { op: "remove", path: label },
  ]);
});

it("is of the version whose owners were read, and gives up entries of ours from the last on", () => {
  const labels = { [holdLabel]: "h" };
  const owners = ["kubelet", "karpenter-node-holder", "argo", "karpenter-node-holder"];
  const managedFields = owners.map((manager) => ({ manager }));
  const change = { label: null, annotations: { "k/1~": "true" }, owners: { version: "7", givenUp: [1, 3] } };
  const patch = markPatch({ ...node, labels }, change);
  const present = { ...node, labels, managedFields };
  expect(apply({ ...present, resourceVersion: "7" }, patch)).toEqual({
    metadata: {
      ...JSON.parse(JSON.stringify(node)),
      labels: {},
      resourceVersion: "7",
      managedFields: [{ manager: "kubelet" }, { manager: "argo" }],
    },
  });
  expect(() => apply({ ...present, resourceVersion: "8" }, patch)).toThrow("the server rejected our request");
});

it("adds a map where there is none, and none where nothing is added", () => {
  const bare = { name: "a", uid: "1", createdAt: noon };
  const marked = { uid: "1", labels: { [holdLabel]: "h" }, annotations: { "k/1~": "true" } };
  expect(apply({ uid: "1" }, markPatch(bare, mark))).toEqual({ metadata: marked });
  expect(apply({ uid: "1" }, markPatch(bare, release))).toEqual({ metadata: { uid: "1" } });
});

it.each([
  ["another node has the name", { ...node, uid: "2" }],
  ["the annotation has changed", { ...node, annotations: { "k/1~": "8h" } }],
  ["the annotation is gone", { ...node, annotations: {} }],
  ["the label has changed", { ...node, labels: { [holdLabel]: "never" } }],
])("is refused as a whole where %s", (_, present) => {
  expect(() => apply(present, markPatch(node, mark))).toThrow("the server rejected our request");
});
