import { describe, expect, it } from "vitest";
import { holdLabel, Karpenter, neverHold } from "../../lambda/core/marks/keys.ts";
import { nodeEventsOf } from "../../local/holder/node-events.ts";
import { noon } from "../support/fixed-clock.ts";

const keys = Karpenter.v1;
const node = (label?: string, annotation?: string) => ({
  name: "a",
  createdAt: noon,
  labels: { [keys.poolLabel]: "web", ...(label !== undefined && { [holdLabel]: label }) },
  annotations: annotation === undefined ? {} : { [keys.annotation]: annotation },
});

describe("what a change of a node means", () => {
  it.each([
    ["a newcomer", undefined, node(), [{ kind: "node joined", node: "a", nodePool: "web" }]],
    ["a node gone", node(), undefined, [{ kind: "node gone", node: "a", nodePool: "web" }]],
    ["a heartbeat", node("hold-1", "true"), node("hold-1", "true"), []],
    ["a mark", node(), node("hold-1", "true"), [{ kind: "node marked", node: "a", holdId: "hold-1" }]],
    [
      "an adoption",
      node("hold-1", "true"),
      node("hold-2", "true"),
      [{ kind: "node marked", node: "a", holdId: "hold-2" }],
    ],
    ["a release", node("hold-1", "true"), node(), [{ kind: "node released", node: "a", holdId: "hold-1" }]],
    [
      "a label taken off",
      node("hold-1", "true"),
      node(undefined, "true"),
      [{ kind: "node handed over", node: "a" }],
    ],
    ["a user's annotation", node(), node(undefined, "false"), [{ kind: "node user-held", node: "a" }]],
    [
      "our annotation taken off by its user",
      node("hold-1", "true"),
      node("hold-1"),
      [{ kind: "node released", node: "a", holdId: "hold-1" }],
    ],
    ["what was left of that mark, taken off", node("hold-1"), node(), []],
    ["a user's annotation taken off", node(undefined, "true"), node(), [{ kind: "node let go", node: "a" }]],
    ["a node kept out", node(), node(neverHold), []],
  ])("%s", (_, before, now, expected) => {
    expect(nodeEventsOf(before, now, keys)).toEqual(expected);
  });

  it("a node born held by its user joins first", () => {
    const kinds = nodeEventsOf(undefined, node(undefined, "true"), keys).map(({ kind }) => kind);
    expect(kinds).toEqual(["node joined", "node user-held"]);
  });
});
