import { describe, expect, it } from "vitest";
import { holdLabel, isIneffective, Karpenter } from "../../../lambda/core/marks/keys.ts";
import { planMark } from "../../../lambda/core/marks/plan-marks.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { usersLabels } from "../../contracts/nodes-world.ts";

const [h1, h2, h3] = [holdId(1), holdId(2), holdId(3)];
const [key, other] = ["key", "other"];

const aNode = (label?: string, annotations?: Record<string, string>) => ({
  name: "a",
  uid: "1",
  createdAt: noon,
  ...(label !== undefined && { labels: { [holdLabel]: label } }),
  ...(annotations && { annotations }),
});
const set = (label: string | null, value: string | null) => ({ label, annotations: { [key]: value } });

const byH1 = { holdId: h1, annotation: key };
const byH2 = { holdId: h2, annotation: key };

describe("a user's annotation", () => {
  const { v1, "v0.31": older } = Karpenter;

  it.each([
    [v1.annotation, "true", false],
    [v1.annotation, "false", false],
    [v1.annotation, "30m", true],
    [v1.annotation, "", true],
    [v1.annotation, undefined, false],
    [older.annotation, "30m", false],
  ])("%s=%s protects nothing: %s", (annotation, value, expected) => {
    expect(isIneffective(annotation, value)).toBe(expected);
  });
});

describe("a hold's mark", () => {
  it.each([
    ["a bare node", aNode(), { outcome: "marked", change: set(h2, "true") }],
    [
      "a node with other annotations",
      aNode(undefined, { x: "y" }),
      { outcome: "marked", change: set(h2, "true") },
    ],
    ["an older hold's mark", aNode(h1, { key: "true" }), { outcome: "adopted", change: set(h2, "true") }],
    ["half a mark of an older hold", aNode(h1), { outcome: "adopted", change: set(h2, "true") }],
    ["a younger hold's mark", aNode(h3, { key: "true" }), { outcome: "passed" }],
    ["half a mark of a younger hold", aNode(h3), { outcome: "passed" }],
    ["a user's value in a younger mark", aNode(h3, { key: "8h" }), { outcome: "passed" }],
    ["its own mark", aNode(h2, { key: "true" }), { outcome: "already" }],
    ["half its own mark", aNode(h2), { outcome: "already" }],
    ["a user's annotation", aNode(undefined, { key: "true" }), { outcome: "userHeld" }],
    ["a user's value", aNode(undefined, { key: "8h" }), { outcome: "userHeld" }],
    ["a user's value in an older mark", aNode(h1, { key: "8h" }), { outcome: "userHeld" }],
  ])("on %s", (_, node, decision) => {
    expect(planMark(node, byH2)).toEqual(decision);
  });

  it.each(usersLabels)("never changes a node that its user labelled %j", (label) => {
    for (const annotations of [{}, { [key]: "true" }, { [key]: "true", [other]: "true" }]) {
      const node = aNode(label, annotations);
      expect(planMark(node, byH1)).toEqual({ outcome: "passed" });
    }
  });
});
