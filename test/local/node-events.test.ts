import { describe, expect, it } from "vitest";
import { holdLabel, Karpenter, neverHold } from "../../lambda/core/marks/keys.ts";
import { nodeEventsOf } from "../../local/holder/node-events.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";

const keys = Karpenter.v1;
const [id1, id2] = [holdId(1), holdId(2)];
const node = (label?: string, annotation?: string) => ({
  name: "a",
  uid: "1",
  createdAt: noon,
  labels: { [keys.poolLabel]: "web", ...(label !== undefined && { [holdLabel]: label }) },
  annotations: annotation === undefined ? {} : { [keys.annotation]: annotation },
});

const [marked, annotated] = [node(id1, "true"), node(undefined, "true")];

describe("what a change of a node means", () => {
  it.each([
    ["a new node", undefined, node(), [{ kind: "node joined", nodePool: "web" }]],
    ["a node gone", node(), undefined, [{ kind: "node gone", nodePool: "web" }]],
    ["a heartbeat", marked, marked, []],
    ["a mark", node(), marked, [{ kind: "node marked", holdId: id1 }]],
    ["an adoption", marked, node(id2, "true"), [{ kind: "node marked", holdId: id2, before: id1 }]],
    ["a release", marked, node(), [{ kind: "node released", holdId: id1 }]],
    ["a label taken off", marked, annotated, [{ kind: "node handed over" }]],
    ["a user's annotation", node(), node(undefined, "false"), [{ kind: "node user-held" }]],
    ["our annotation taken off by its user", marked, node(id1), [{ kind: "node released", holdId: id1 }]],
    ["what was left of that mark, taken off", node(id1), node(), []],
    ["a user's annotation taken off", annotated, node(), [{ kind: "node let go" }]],
    ["a node kept out of holds", node(), node(neverHold), [{ kind: "node excluded" }]],
    ["any other value of its user", node(), node("team-2"), [{ kind: "node excluded" }]],
    ["a node that may be held again", node(neverHold), node(), [{ kind: "node included" }]],
  ])("%s", (_, before, now, expected) => {
    expect(nodeEventsOf(before, now, keys)).toEqual(expected.map((event) => ({ node: "a", ...event })));
  });

  it("a node with a user's annotation from its start joins first", () => {
    const kinds = nodeEventsOf(undefined, node(undefined, "true"), keys).map(({ kind }) => kind);
    expect(kinds).toEqual(["node joined", "node user-held"]);
  });
});
