import { describe, expect, it } from "vitest";
import { holderName, holdLabel } from "../../../lambda/core/marks/keys.ts";
import { planMove, planRemoval } from "../../../lambda/core/marks/plan-moves.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { usersLabels } from "../../contracts/nodes.ts";

const h1 = holdId(1);
const keys = { present: "new", former: ["old"] };

type Writers = Readonly<Record<string, readonly string[]>>;
const aNode = (label: string, annotations: Record<string, string>, writers: Writers = {}) => ({
  name: "a",
  uid: "1",
  createdAt: noon,
  labels: { [holdLabel]: label },
  annotations,
  writers: Object.entries(writers).map(([manager, own]) => ({ manager, annotations: own })),
});
const change = (label: string | null, annotations: Record<string, string | null>) => ({ label, annotations });

describe("a mark under a former annotation", () => {
  it.each([
    ["moves", aNode(h1, { old: "true" }), change(h1, { old: null, new: "true" })],
    [
      "moves when it is ours, though the cluster does not record its key",
      aNode(h1, { unrecorded: "true" }, { [holderName]: ["unrecorded"] }),
      change(h1, { unrecorded: null, new: "true" }),
    ],
    [
      "is removed where we set the present one, too",
      aNode(h1, { old: "true", new: "true" }, { [holderName]: ["old", "new"] }),
      change(h1, { old: null, new: "true" }),
    ],
  ])("%s", (_, node, wanted) => {
    expect(planMove(node, keys)).toEqual({ outcome: "moved", change: wanted });
  });

  it.each([
    ["set the present one", { old: "true", new: "true" }, { [holderName]: ["old"], kubectl: ["new"] }, null],
    ["set the new one, but no writer is recorded", { old: "true", new: "true" }, {}, null],
    [
      "set both in turn with us",
      { old: "true", new: "true" },
      { [holderName]: ["new"], argo: ["new"] },
      null,
    ],
    ["gave the present one another value", { old: "true", new: "8h" }, { [holderName]: ["new"] }, null],
  ])("is removed with its label where the owner %s", (_, annotations, writers, old) => {
    expect(planMove(aNode(h1, annotations, writers), keys)).toEqual({
      outcome: "handed over",
      change: change(null, { old, new: annotations.new }),
    });
  });

  it.each([
    ["has another value", { old: "8h" }, {}],
    ["was set by its owner", { old: "true" }, { kubectl: ["old"] }],
    ["is under the present key already", { new: "true" }, { [holderName]: ["new"] }],
    ["is not recorded as ours by the cluster or the node", { foreign: "true" }, {}],
  ])("is none where the annotation %s", (_, annotations, writers) => {
    expect(planMove(aNode(h1, annotations, writers), keys)).toEqual({ outcome: "kept" });
  });
});

describe("the removal of a mark", () => {
  it.each([
    [
      "takes every annotation of ours",
      { old: "true", new: "true" },
      { [holderName]: ["old", "new"] },
      [null, null],
      "released",
    ],
    ["removes one without a recorded writer", { new: "true" }, {}, [null, null], "released"],
    [
      "leaves the owner's annotation under the present key",
      { old: "true", new: "true" },
      { kubectl: ["new"] },
      [null, "true"],
      "kept",
    ],
    [
      "leaves the owner's annotation alone beside our label",
      { new: "true" },
      { kubectl: ["new"] },
      [null, "true"],
      "kept",
    ],
    [
      "leaves the owner's annotation under a former key",
      { old: "true", new: "true" },
      { [holderName]: ["new"], kubectl: ["old"] },
      ["true", null],
      "released",
    ],
    ["leaves the owner's value", { new: "8h" }, {}, [null, "8h"], "kept"],
    ["takes half a mark", {}, {}, [null, null], "released"],
  ])("%s", (_, annotations, writers, [old = null, present = null], outcome) => {
    const node = aNode(h1, annotations as Record<string, string>, writers as Writers);
    expect(planRemoval(node, keys)).toEqual({ outcome, change: change(null, { old, new: present }) });
  });
});

it("takes half a mark from a node without annotations", () => {
  const { annotations: _, ...half } = aNode(h1, {});
  expect(planRemoval(half, keys).outcome).toBe("released");
});

it("is none on a node without labels", () => {
  const { labels: _, ...bare } = aNode(h1, { old: "true", new: "true" });
  for (const plan of [planMove, planRemoval]) expect(plan(bare, keys)).toEqual({ outcome: "kept" });
});

it.each(usersLabels)("changes no node that its user labelled %j", (label) => {
  for (const plan of [planMove, planRemoval])
    expect(plan(aNode(label, { old: "true", new: "true" }), keys)).toEqual({ outcome: "kept" });
});
