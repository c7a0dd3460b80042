import { describe, expect, it } from "vitest";
import { holderName, holdLabel } from "../../../lambda/core/marks/keys.ts";
import { type MarkToRelease, planRelease } from "../../../lambda/core/marks/plan-marks.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { usersLabels } from "../../contracts/nodes-world.ts";

const [h1, h2] = [holdId(1), holdId(2)];
const annotation = "new";

type Texts = Readonly<Record<string, string>>;
type Writers = Readonly<Record<string, readonly string[]>>;
const aNode = (label: string | undefined, annotations?: Texts, writers: Writers = {}) => ({
  name: "a",
  uid: "1",
  createdAt: noon,
  version: "7",
  ...(label !== undefined && { labels: { [holdLabel]: label } }),
  ...(annotations && { annotations }),
  writers: Object.entries(writers).map(([manager, own]) => ({ manager, annotations: own })),
});
const changeTo = (annotations: Readonly<Record<string, string | null>>, ...givenUp: readonly number[]) => ({
  label: null,
  annotations,
  owners: { version: "7", givenUp },
});
const bothKeys = { old: "true", new: "true" };

describe("the mark of a hold", () => {
  it.each([
    ["a mark", aNode(h1, { new: "true" }), { outcome: "released", change: changeTo({ new: null }) }],
    ["half a mark", aNode(h1), { outcome: "released", change: changeTo({ new: null }) }],
    ["a user's value", aNode(h1, { new: "8h" }), { outcome: "kept", change: changeTo({ new: "8h" }) }],
    ["another hold's mark", aNode(h2, { new: "true" }), { outcome: "kept" }],
    ["half another hold's mark", aNode(h2), { outcome: "kept" }],
    ["a user's annotation", aNode(undefined, { new: "true" }), { outcome: "kept" }],
    ["a bare node", aNode(undefined), { outcome: "released" }],
  ])("released from %s", (_, node, decision) => {
    expect(planRelease(node, { holdId: h1, annotation })).toEqual(decision);
  });

  it.each<[string, Writers]>([
    ["we alone own", { [holderName]: ["new"] }],
    ["the server does not record an owner of", { kubelet: ["x"] }],
    ["the server has folded our entry of", { "ancient-changes": ["new"] }],
    ["was there before the server recorded owners", { "before-first-apply": ["new"], [holderName]: ["x"] }],
  ])("is removed with an annotation that %s", (_, writers) => {
    const { change, outcome } = planRelease(aNode(h1, { new: "true" }, writers), { holdId: h1, annotation });
    expect([outcome, change?.annotations]).toEqual(["released", { new: null }]);
  });

  it.each<[string, Writers, readonly number[]]>([
    ["that a user set again", { [holderName]: [], kubectl: ["new"] }, []],
    ["that a user applies, too: ours is given up", { argo: ["new"], [holderName]: ["new"] }, [1]],
    ["that is folded and applied", { argo: ["new"], "ancient-changes": ["new"] }, []],
  ])("is removed without the annotation %s", (_, writers, givenUp) => {
    const change = changeTo({ new: "true" }, ...givenUp);
    const decision = { outcome: "kept", change };
    expect(planRelease(aNode(h1, { new: "true" }, writers), { holdId: h1, annotation })).toEqual(decision);
  });

  it.each<[string, Texts, Writers, string, string | null]>([
    ["both keys, where we set both", bothKeys, { [holderName]: ["new", "old"] }, "released", null],
    ["the key of that deployment alone", { old: "true" }, { [holderName]: ["old"] }, "released", null],
    [
      "that key, where a user set the present one",
      bothKeys,
      { [holderName]: ["old"], kubectl: ["new"] },
      "kept",
      "true",
    ],
    [
      "that key, where no writer of the present one is recorded",
      bothKeys,
      { [holderName]: ["old"] },
      "kept",
      "true",
    ],
  ])(
    "that a function of an earlier deployment put is removed from %s",
    (_, annotations, writers, outcome, present) => {
      expect(planRelease(aNode(h1, annotations, writers), { holdId: h1, annotation })).toEqual({
        outcome,
        change: changeTo({ old: null, new: present }),
      });
    },
  );

  it.each<[string, Texts]>([
    ["under a key that nobody named", { "example.com/stay": "true" }],
    ["under the other key of Karpenter", { "karpenter.sh/do-not-consolidate": "true" }],
  ])("stays with its label where it may be %s, because the server has folded our entry", (_, annotations) => {
    const node = aNode(h1, annotations, { "ancient-changes": Object.keys(annotations) });
    expect(planRelease(node, { holdId: h1, annotation })).toEqual({ outcome: "kept" });
    // With that key it is found.
    const [key = ""] = Object.keys(annotations);
    expect(planRelease(node, { holdId: h1, annotation: key })).toMatchObject({ outcome: "released" });
  });

  it.each<[string, Texts, Writers]>([
    [
      "the kubelet's",
      { "volumes.kubernetes.io/attached": "true" },
      { "ancient-changes": ["volumes.kubernetes.io/attached"] },
    ],
    ["with another value", { "example.com/a": "4h" }, { "ancient-changes": ["example.com/a"] }],
    [
      "a user's",
      { "example.com/a": "true" },
      { "ancient-changes": ["example.com/b"], kubectl: ["example.com/a"] },
    ],
  ])("is removed beside an annotation that cannot be ours: %s", (_, annotations, writers) => {
    const { change } = planRelease(aNode(h1, annotations, writers), { holdId: h1, annotation });
    expect(change).toMatchObject({ label: null, annotations: { [annotation]: null } });
  });

  it.each<[string, Texts, Writers]>([
    ["that a user set", { other: "true" }, { kubectl: ["other"] }],
    ["that a user set in turn with us", { other: "true" }, { [holderName]: ["other"], argo: ["other"] }],
    ["whose writer is not recorded", { other: "true" }, {}],
    ["with another value", { other: "8h" }, { [holderName]: ["other"] }],
  ])("leaves an annotation under another key %s", (_, annotations, writers) => {
    const node = aNode(h1, { ...annotations, new: "true" }, writers);
    expect(planRelease(node, { holdId: h1, annotation }).change?.annotations).toEqual({ new: null });
  });
});

it.each<[string, Texts | undefined, Writers, after: Readonly<Record<string, string | null>>, string]>([
  [
    "every annotation of ours",
    bothKeys,
    { [holderName]: ["old", "new"] },
    { old: null, new: null },
    "released",
  ],
  ["one without a recorded writer", { new: "true" }, {}, { new: null }, "released"],
  ["half a mark", {}, {}, { new: null }, "released"],
  ["half a mark on a node without annotations", undefined, {}, { new: null }, "released"],
  [
    "the label alone beside the user's annotation",
    { new: "true" },
    { kubectl: ["new"] },
    { new: "true" },
    "kept",
  ],
  ["the label alone beside the user's value", { new: "4h" }, {}, { new: "4h" }, "kept"],
  [
    "all but one that a user set in turn with us",
    bothKeys,
    { [holderName]: ["old", "new"], argo: ["new"] },
    { old: null, new: "true" },
    "kept",
  ],
  [
    "all but the user's under another key",
    bothKeys,
    { [holderName]: ["new"], kubectl: ["old"] },
    { new: null },
    "released",
  ],
])("of the marks of any hold is removed: %s", (_, annotations, writers, after, outcome) => {
  const decision = planRelease(aNode(h2, annotations, writers), { annotation });
  expect([decision.outcome, decision.change?.annotations]).toEqual([outcome, after]);
});

it.each<[string | undefined]>([[undefined], ...usersLabels.map((label): [string] => [label])])(
  "no node is changed that has the label %j",
  (label) => {
    const node = aNode(label, bothKeys, { [holderName]: ["old", "new"] });
    const all: MarkToRelease[] = [
      { annotation },
      { holdId: h1, annotation },
      { holdId: label ?? "", annotation },
    ];
    for (const what of all) expect(planRelease(node, what)).toEqual({ outcome: "kept" });
  },
);
