import { describe, expect, it } from "vitest";
import { hours } from "../../lambda/core/duration.ts";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import { karpentersLabels } from "../../simulator/fake-ec2.ts";
import { AccessWorld, holdId } from "./access-world.ts";

const former = "karpenter.sh/do-not-consolidate";
const present = "karpenter.sh/do-not-disrupt";
const nextHold = "20260131t100000-abcdef";

/** What the users wrote; it stays as it is. */
const usersOwn = {
  owners: { [present]: "true" },
  adopted: {},
  changed: { [former]: "8h" },
  also: { "example.com/keep": "true" },
};

/** The functions use another annotation already; marks are still under the former one. */
async function markedUnderFormer() {
  const world = new AccessWorld();
  world.access.hasPolicies = false;
  const { cluster } = world;
  for (const name of ["owners", "adopted", "changed", "also"]) {
    cluster.addNode({ name, labels: karpentersLabels("v1", "default") });
    await world.mark(name, former);
  }
  cluster.editNode("owners", { annotations: { [present]: "true" } });
  cluster.editNode("changed", { annotations: { [former]: "8h" } });
  cluster.editNode("also", { annotations: { "example.com/keep": "true" } });
  const context = { deadline: new Date(Date.now() + hours(1)), log: world.log };
  return { world, nodes: world.functions(present), context };
}

const texts = ({ nodes }: AccessWorld) =>
  Object.fromEntries(
    Object.entries(nodes).map(([name, all]) => {
      const { "karpenter.sh/nodepool": _, "karpenter.sh/registered": __, ...rest } = all;
      return [name, rest];
    }),
  );

describe("a hold that ends while marks of it are under a former annotation", () => {
  it("leaves no annotation of ours on a node, and every annotation of its users", async () => {
    const { world, nodes, context } = await markedUnderFormer();

    await nodes.release(holdId, context);

    expect(texts(world)).toEqual(usersOwn);
  });

  it("leaves none either when the release is done in one pass with others", async () => {
    const { world, nodes, context } = await markedUnderFormer();

    await nodes.releaseAll(new Set([holdId]), context);

    expect(texts(world)).toEqual(usersOwn);
  });

  it("leaves none when the next hold took the nodes over under the other annotation", async () => {
    const { world, nodes, context } = await markedUnderFormer();

    await nodes.mark({ scope: "cluster", holdId: nextHold }, context);
    expect(texts(world).adopted).toEqual({ [holdLabel]: nextHold, [former]: "true", [present]: "true" });
    await nodes.release(nextHold, context);
    await nodes.release(holdId, context);

    expect(texts(world)).toEqual(usersOwn);
  });
});
