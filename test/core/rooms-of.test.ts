import { expect, it } from "vitest";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import { roomsOf, type ScopeView } from "../../lambda/core/plan-nodes.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { aClaim, aNode, markOf, someRules } from "../support/builders.ts";
import { at } from "./plans.ts";

const roomsIn = (view: Pick<ScopeView, "nodes" | "claims">) =>
  roomsOf({ at: at(0), ...view }, someRules(), at(0));

it("a node has what its NodeClaim reports, and stays for two minutes after it opened, or where it is not ours", () => {
  const { node: _, ...unnamed } = aClaim("unnamed", { openedAt: at(-1.9), consolidatable: "not yet" });
  const claims = [unnamed, aClaim("marked", { openedAt: at(-2) }), aClaim("annotated")];
  const usersAnnotation = aNode("annotated", { annotations: { [Karpenter.v1.annotation]: "true" } });
  const none = { allocatable: {}, taints: [], isOpen: false };
  expect(roomsIn({ nodes: [aNode("marked", markOf(holdId(2))), usersAnnotation], claims })).toMatchObject([
    { name: "claim-unnamed", ...none, labels: {}, stays: true, consolidatable: "not yet" },
    { name: "marked", ...none, stays: false },
    { name: "annotated", ...none, labels: {}, stays: true },
  ]);
});

it("a node has the labels of its NodeClaim, and those that it was given later", () => {
  const claimed = { allocatable: {}, labels: { zone: "a", pool: "web" }, taints: [], isOpen: true };
  const node = aNode("labelled", { labels: { zone: "a", disk: "ssd" } });
  const [room] = roomsIn({ nodes: [node], claims: [aClaim("labelled", { room: claimed })] });
  expect(room?.labels).toEqual({ zone: "a", pool: "web", disk: "ssd" });
});
