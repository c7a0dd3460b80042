import { describe, expect, it } from "vitest";
import { holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import { markPatch } from "../../lambda/kubernetes/node-changes.ts";

const { annotation } = Karpenter.v1;

describe("the patch of a mark", () => {
  const node = { name: "a", uid: "u", createdAt: new Date(0) };
  const uid = { op: "test", path: "/metadata/uid", value: "u" };

  it("gives up our entries among the owners as they were read, the last one first", () => {
    const owners = { version: "7", givenUp: [1, 3] };
    expect(markPatch(node, { label: null, annotations: { [annotation]: null }, owners })).toEqual([
      uid,
      { op: "test", path: "/metadata/resourceVersion", value: "7" },
      { op: "remove", path: "/metadata/managedFields/3" },
      { op: "remove", path: "/metadata/managedFields/1" },
      { op: "test", path: "/metadata/annotations", value: null },
      { op: "test", path: "/metadata/labels", value: null },
    ]);
  });

  it("tests every key that its decision rests on, and changes those that differ", () => {
    const marked = { ...node, labels: { [holdLabel]: "1" }, annotations: { "a/b~c": "true", theirs: "8h" } };
    const annotations = { "a/b~c": null, theirs: "8h", absent: null };
    const [ours, theirs, absent, label] = [
      ...["annotations/a~1b~0c", "annotations/theirs", "annotations/absent"],
      "labels/karpenter-node-holder~1hold",
    ].map((path) => `/metadata/${path}`);
    expect(markPatch(marked, { label: null, annotations })).toEqual([
      uid,
      ...[
        { op: "test", path: ours, value: "true" },
        { op: "remove", path: ours },
      ],
      { op: "test", path: theirs, value: "8h" },
      { op: "test", path: absent, value: null },
      ...[
        { op: "test", path: label, value: "1" },
        { op: "remove", path: label },
      ],
    ]);
  });
});
