import { expect, it } from "vitest";
import { holderName, holdLabel, neverHold } from "../../lambda/core/marks/keys.ts";
import { poolScope } from "../../lambda/core/scope.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { bare, heldIn, markListed, type nodesIn } from "./nodes-world.ts";

/** The same promises, of releases and of nodes that change meanwhile. */
export function releasesContract(its: ReturnType<typeof nodesIn>): void {
  const { annotation, mark, release, ours, held } = its;

  it("releases only the hold that is named", async () => {
    await its.world.add("a", held(holdId(1)));
    await its.world.add("b", held(holdId(2)));
    expect(await release(holdId(1))).toMatchObject({ released: 1, kept: 0, failed: 0, left: false });
    expect(await ours("a")).toEqual(bare);
    expect(await ours("b")).toEqual(heldIn(holdId(2)));
  });

  it("releases marks wherever they are, also where settings have changed since", async () => {
    await its.world.add("a", { ...held(holdId(1)), pool: null });
    expect(await release(holdId(1))).toMatchObject({ released: 1 });
    expect(await ours("a")).toEqual(bare);
  });

  it("leaves an annotation to the user who took it off a held node and set it again", async () => {
    await its.world.add("a");
    await mark(holdId(1));
    await its.world.edit("a", "annotations", annotation, undefined);
    await its.world.edit("a", "annotations", annotation, "true");
    expect(await mark(holdId(2))).toMatchObject({ adopted: 1 });
    expect(await release(holdId(2))).toMatchObject({ released: 0, kept: 1, failed: 0, left: false });
    expect(await ours("a")).toEqual({ label: undefined, annotation: "true" });
    expect(await its.world.history("a")).toEqual([undefined, "true", undefined, "true"]);
  });

  it("leaves an annotation to the user who sets it again during a release", async () => {
    await its.world.add("a");
    await mark(holdId(1));
    its.world.beforeNextPatch("a", async () => {
      await its.world.edit("a", "annotations", annotation, undefined);
      await its.world.edit("a", "annotations", annotation, "true");
    });
    expect(await release(holdId(1))).toMatchObject({ released: 0, kept: 1, failed: 0, left: false });
    expect(await ours("a")).toEqual({ label: undefined, annotation: "true" });
  });

  it("leaves the annotation to a user who takes the label off", async () => {
    await its.world.add("a");
    await mark(holdId(1));
    await its.world.edit("a", "labels", holdLabel, undefined);
    await mark(holdId(1));
    await release(holdId(1));
    expect(await ours("a")).toEqual({ label: undefined, annotation: "true" });
    expect(await its.world.history("a")).toEqual([undefined, "true"]);
  });

  it("skips a mark that a newer hold has adopted meanwhile", async () => {
    await its.world.add("a", held(holdId(1)));
    its.world.beforeNextPatch("a", () => its.world.edit("a", "labels", holdLabel, holdId(2)));
    expect(await release(holdId(1))).toMatchObject({ released: 0, kept: 1, failed: 0, left: false });
    expect(await ours("a")).toEqual(heldIn(holdId(2)));
  });

  it("reads a node again that changed meanwhile", async () => {
    await its.world.add("a");
    await its.world.add("b", held(holdId(1)));
    await its.world.add("c");
    its.world.beforeNextPatch("a", () => its.world.edit("a", "annotations", annotation, "false"));
    its.world.beforeNextPatch("b", () => its.world.edit("b", "annotations", annotation, undefined));
    its.world.beforeNextPatch("c", () => its.world.edit("c", "labels", holdLabel, neverHold));

    const result = await mark(holdId(2));

    expect(result).toMatchObject({ marked: 0, adopted: 1, userHeld: 1, failed: 0 });
    expect(await ours("a")).toEqual({ label: undefined, annotation: "false" });
    expect(await ours("b")).toEqual(heldIn(holdId(2)));
    expect(await ours("c")).toEqual({ label: neverHold, annotation: undefined });
  });

  it("accepts work that another function has done meanwhile", async () => {
    await its.world.add("a");
    await its.world.add("b", held(holdId(1)));
    its.world.beforeNextPatch("a", async () => {
      await its.world.edit("a", "annotations", annotation, "true", holderName);
      await its.world.edit("a", "labels", holdLabel, holdId(2), holderName);
    });
    expect(await mark(holdId(2))).toMatchObject({ marked: 1, adopted: 1, userHeld: 0, failed: 0 });

    its.world.beforeNextPatch("b", async () => {
      await its.world.edit("b", "labels", holdLabel, undefined);
      await its.world.edit("b", "annotations", annotation, undefined);
    });
    expect(await release(holdId(2))).toMatchObject({ released: 2, kept: 0, failed: 0, left: false });
    expect(await ours("a")).toEqual(bare);
  });

  it("gives the user an annotation that they change during a release", async () => {
    await its.world.add("a", held(holdId(1)));
    its.world.beforeNextPatch("a", () => its.world.edit("a", "annotations", annotation, "8h"));
    expect(await release(holdId(1))).toMatchObject({ released: 0, kept: 1, failed: 0, left: false });
    expect(await ours("a")).toEqual({ label: undefined, annotation: "8h" });
  });

  it("is not disturbed by nodes that are deleted meanwhile", async () => {
    await its.world.add("a");
    await its.world.add("b");
    await its.world.add("c", held(holdId(0)));
    its.world.beforeNextPatch("a", () => its.world.remove("a"));
    const result = await mark(holdId(1));
    expect(result).toMatchObject({ marked: 1, adopted: 1, failed: 0, left: false });

    its.world.beforeNextPatch("b", () => its.world.remove("b"));
    expect(await release(holdId(1))).toMatchObject({ released: 1, kept: 0, failed: 0, left: false });
  });

  it.each([
    ["one of another NodePool", { pool: "web" }],
    ["one that is not Karpenter's", { pool: null }],
    ["one of the same NodePool", { pool: "batch" }],
  ])("does not mark a node that was replaced under its name by %s", async (_, other) => {
    await its.world.add("a", { pool: "batch" });
    its.world.beforeNextPatch("a", async () => {
      await its.world.remove("a");
      await its.world.add("a", other);
    });
    const result = await markListed(its.world.nodes, { scope: poolScope("batch"), holdId: holdId(1) });
    expect(result).toMatchObject({ marked: 0, adopted: 0, userHeld: 0, failed: 0, left: false });
    expect(await ours("a")).toEqual(bare);
  });

  it("does not release a node that was replaced under its name", async () => {
    await its.world.add("a", held(holdId(1)));
    its.world.beforeNextPatch("a", async () => {
      await its.world.remove("a");
      await its.world.add("a", held(holdId(1)));
    });
    expect(await release(holdId(1))).toMatchObject({ released: 0, kept: 0, failed: 0, left: false });
    expect(await ours("a")).toEqual(heldIn(holdId(1)));
  });
}
