import { describe, expect, it } from "vitest";
import { TryAgainError } from "../../lambda/core/errors.ts";
import { instanceOf, parseNode, parseNodeLife } from "../../lambda/kubernetes/node-objects.ts";
import { noon } from "../../simulator/virtual-clock.ts";

const named = { name: "a", uid: "1" };
const at = noon.toISOString();

describe("a node's metadata", () => {
  it("is read whole", () => {
    const labels = { x: "y" };
    const annotations = { "example.com/x": "" };
    const metadata = { ...named, creationTimestamp: at, labels, annotations, generation: 7 };
    expect(parseNode({ metadata })).toEqual({ ...named, createdAt: noon, labels, annotations });
  });

  it.each([{}, { creationTimestamp: null, labels: null, annotations: null }])(
    "may have no labels, no annotations and no time: %j",
    (more) => {
      expect(parseNode({ metadata: { ...named, ...more } })).toEqual({ ...named, createdAt: new Date(0) });
    },
  );

  it.each(["a", "a1", "ip-10-0-0-1.ec2.internal", "a".repeat(253)])("may have the name %s", (name) => {
    expect(parseNode({ metadata: { ...named, name } }).name).toBe(name);
  });

  it.each<[unknown, string]>([
    ["text", 'a node must be an object, not "text"'],
    [{}, "a node's metadata must be an object, not missing"],
    ...[7, "", "A", "-a", "a-", "a/b", "../a", "a".repeat(254)].map((name): [unknown, string] => [
      { metadata: { ...named, name } },
      `a node's metadata.name must be a name, not ${JSON.stringify(name).slice(0, 100)}`,
    ]),
    [{ metadata: { name: "a", uid: "" } }, 'the uid of node a must be text, not ""'],
    [
      { metadata: { ...named, creationTimestamp: "soon" } },
      'the creationTimestamp of node a must be a time, not "soon"',
    ],
    [{ metadata: { ...named, labels: { x: 7 } } }, "the labels of node a must be text, not 7"],
  ])("is refused where it is malformed: %j", (node, message) => {
    expect(() => parseNode(node)).toThrow(new TryAgainError(message));
  });
});

describe("a node's deletion, finalizers and writers", () => {
  it("are read from its metadata", () => {
    const fieldsV1 = {
      "f:metadata": { "f:annotations": { "f:x/y": {}, ".": {} }, "f:labels": { "f:z": {} } },
    };
    const metadata = {
      ...named,
      resourceVersion: "42",
      deletionTimestamp: at,
      finalizers: ["x/y", 7],
      managedFields: [{ manager: "kubectl", time: at, fieldsV1 }, { manager: 7 }],
    };
    expect(parseNodeLife({ metadata })).toEqual({
      ...named,
      createdAt: new Date(0),
      version: "42",
      deletedAt: noon,
      finalizers: ["x/y", ""],
      writers: [
        { manager: "kubectl", at: noon, annotations: ["x/y"] },
        { manager: "", at: new Date(0), annotations: [] },
      ],
    });
  });

  it.each([{}, { deletionTimestamp: null, finalizers: null, managedFields: null }])(
    "may be missing: %j",
    (more) => {
      const expected = { ...named, createdAt: new Date(0), version: "", finalizers: [], writers: [] };
      expect(parseNodeLife({ metadata: { ...named, ...more } })).toEqual(expected);
    },
  );

  it.each<[object, string]>([
    [{ deletionTimestamp: "soon" }, 'a deletionTimestamp must be a time, not "soon"'],
    [{ managedFields: [7] }, "a manager of fields must be an object, not 7"],
    [{ managedFields: [{ time: "soon" }] }, 'a manager\'s time must be a time, not "soon"'],
    [
      { managedFields: [{ fieldsV1: { "f:metadata": { "f:annotations": 7 } } }] },
      "f:annotations must be an object, not 7",
    ],
  ])("are refused where they are malformed: %j", (more, message) => {
    expect(() => parseNodeLife({ metadata: { ...named, ...more } })).toThrow(new TryAgainError(message));
  });
});

describe("a node's instance", () => {
  it.each<[object, string]>([
    [{ spec: { providerID: "aws:///eu-west-1a/i-1" } }, "i-1"],
    [{ spec: { providerID: "kwok://a/b" } }, "kwok://a/b"],
    [{ spec: { providerID: "" } }, "a"],
    [{ spec: { providerID: 7 } }, "a"],
    [{ spec: null }, "a"],
    [{ metadata: { name: 7 } }, ""],
  ])("of %j is %s", (node, instance) => {
    expect(instanceOf({ metadata: named, ...node })).toBe(instance);
  });

  it("of a malformed node is an error", () => {
    expect(() => instanceOf({ spec: 7 })).toThrow(
      new TryAgainError("a node's spec must be an object, not 7"),
    );
  });
});
