import { describe, expect, it } from "vitest";
import { holdLabel, Karpenter, neverHold } from "../../lambda/core/marks/keys.ts";
import { nodeEventsOf } from "../../local/holder/node-events.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";

const keys = Karpenter.v1;
const node = (label?: string, annotation?: string) => ({
  name: "a",
  uid: "1",
  createdAt: noon,
  labels: { [keys.poolLabel]: "web", ...(label !== undefined && { [holdLabel]: label }) },
  annotations: annotation === undefined ? {} : { [keys.annotation]: annotation },
});

describe("what a change of a node means", () => {
  it.each([
    ["a new node", undefined, node(), [{ kind: "node joined", node: "a", nodePool: "web" }]],
    ["a node gone", node(), undefined, [{ kind: "node gone", node: "a", nodePool: "web" }]],
    ["a heartbeat", node(holdId(1), "true"), node(holdId(1), "true"), []],
    ["a mark", node(), node(holdId(1), "true"), [{ kind: "node marked", node: "a", holdId: holdId(1) }]],
    [
      "an adoption",
      node(holdId(1), "true"),
      node(holdId(2), "true"),
      [{ kind: "node marked", node: "a", holdId: holdId(2), before: holdId(1) }],
    ],
    ["a release", node(holdId(1), "true"), node(), [{ kind: "node released", node: "a", holdId: holdId(1) }]],
    [
      "a label taken off",
      node(holdId(1), "true"),
      node(undefined, "true"),
      [{ kind: "node handed over", node: "a" }],
    ],
    ["a user's annotation", node(), node(undefined, "false"), [{ kind: "node user-held", node: "a" }]],
    [
      "our annotation taken off by its user",
      node(holdId(1), "true"),
      node(holdId(1)),
      [{ kind: "node released", node: "a", holdId: holdId(1) }],
    ],
    ["what was left of that mark, taken off", node(holdId(1)), node(), []],
    ["a user's annotation taken off", node(undefined, "true"), node(), [{ kind: "node let go", node: "a" }]],
    ["a node kept out of holds", node(), node(neverHold), [{ kind: "node excluded", node: "a" }]],
    ["any other value of its user", node(), node("team-2"), [{ kind: "node excluded", node: "a" }]],
    ["a node that may be held again", node(neverHold), node(), [{ kind: "node included", node: "a" }]],
  ])("%s", (_, before, now, expected) => {
    expect(nodeEventsOf(before, now, keys)).toEqual(expected);
  });

  it("a node with a user's annotation from its start joins first", () => {
    const kinds = nodeEventsOf(undefined, node(undefined, "true"), keys).map(({ kind }) => kind);
    expect(kinds).toEqual(["node joined", "node user-held"]);
  });
});
