import { describe, expect, it } from "vitest";
import { holdLabel, Karpenter, neverHold } from "../../lambda/core/marks/keys.ts";
import type { NodeChange } from "../../lambda/core/ports.ts";
import { type NodePoolFilter, poolScope, wholeCluster } from "../../lambda/core/scope.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { releasesContract } from "./nodes-releases.ts";
import {
  bare,
  heldIn,
  markListed,
  type NodesOptions,
  type NodesWorld,
  nodesIn,
  soon,
  usersLabels,
} from "./nodes-world.ts";

const generations: readonly (readonly [string, NodesOptions])[] = [
  ["Karpenter v1", {}],
  ["Karpenter v0.31", { karpenter: "v0.31" }],
  ["an annotation of one's own", { annotation: "example.com/stay" }],
];

/** The promises of the Nodes port; every implementation is held to the same ones. */
export function nodesContract(open: (options: NodesOptions) => Promise<NodesWorld>): void {
  describe.each(generations)("with %s", (_, options) => {
    const annotation = options.annotation ?? Karpenter[options.karpenter ?? "v1"].annotation;
    const its = nodesIn(() => open(options), annotation);
    const { mark, release, ours, held, marked } = its;

    it("marks every node of Karpenter's and lists each with its NodePool", async () => {
      await its.world.add("a", { providerId: "aws:///eu-west-1a/i-0123456789abcdef0" });
      await its.world.add("b", { pool: "batch", providerId: "kwok://b" });
      await its.world.add("c", { providerId: "" });

      const result = await mark(holdId(1));

      expect(result).toMatchObject({ marked: 3, adopted: 0, userHeld: 0, failed: 0, left: false });
      const listed = await its.world.nodes.list(wholeCluster, soon());
      expect(listed.map(({ name, nodePool }) => [name, nodePool]).toSorted()).toEqual([
        ["a", "default"],
        ["b", "batch"],
        ["c", "default"],
      ]);
      expect(await ours("a")).toEqual(heldIn(holdId(1)));
    });

    it("leaves everything else on a node as it was", async () => {
      await its.world.add("a", { labels: { team: "blue" }, annotations: { "example.com/note": "mine" } });
      const before = await its.world.read("a");
      await mark(holdId(1));
      await release(holdId(1));
      expect(await its.world.read("a")).toEqual(before);
    });

    it("does not touch a node that is not Karpenter's", async () => {
      await its.world.add("a", { pool: null });
      expect(await mark(holdId(1))).toMatchObject({ marked: 0 });
      expect(await ours("a")).toEqual(bare);
    });

    it.each(usersLabels)("never touches a node with the user's label %j", async (label) => {
      await its.world.add("a", { labels: marked(label) });
      await its.world.add("b", { labels: marked(label), annotations: { [annotation]: "true" } });
      const before = [await its.world.read("a"), await its.world.read("b")];
      expect(await mark(holdId(1))).toMatchObject({ marked: 0, adopted: 0, userHeld: 0, failed: 0 });
      expect(await its.world.nodes.listMarked(soon())).toEqual([]);
      expect(await release(holdId(1))).toMatchObject({ released: 0, failed: 0 });
      const [node] = await its.world.nodes.list(wholeCluster, soon());
      if (!node) throw new Error("there is no node");
      const wrong: NodeChange = { do: "mark", node, holdId: label, scope: wholeCluster };
      await expect(its.world.nodes.change([wrong], soon())).rejects.toThrow("is not the id of a hold");
      expect([await its.world.read("a"), await its.world.read("b")]).toEqual(before);
      expect(await its.world.history("b")).toEqual(["true"]);
    });

    it.each(["true", "false", "4h", ""])("leaves the user's own annotation %j alone", async (value) => {
      await its.world.add("a", { annotations: { [annotation]: value }, providerId: "aws:///z/i-1" });

      const result = await mark(holdId(1));
      const released = await release(holdId(1));

      expect(result).toMatchObject({ marked: 0, userHeld: 1, failed: 0 });
      expect(released).toMatchObject({ released: 0, kept: 0 });
      expect(await its.world.history("a")).toEqual([value]);
      expect(await ours("a")).toEqual({ label: undefined, annotation: value });
    });

    it("adopts an older hold's mark without removing the annotation for a moment", async () => {
      await its.world.add("a");
      await mark(holdId(1));
      const result = await mark(holdId(2));
      expect(result).toMatchObject({ marked: 0, adopted: 1, failed: 0 });
      expect(await its.world.history("a")).toEqual([undefined, "true"]);
      expect(await ours("a")).toEqual(heldIn(holdId(2)));
    });

    it("passes a younger hold's mark that is put on meanwhile", async () => {
      await its.world.add("a");
      its.world.beforeNextPatch("a", async () => void (await mark(holdId(2))));
      expect(await mark(holdId(1))).toMatchObject({ marked: 0, adopted: 0, failed: 0 });
      expect(await ours("a")).toEqual(heldIn(holdId(2)));
    });

    releasesContract(its);

    it("protects only the NodePool of its scope", async () => {
      await its.world.add("a", { pool: "batch" });
      await its.world.add("b", { pool: "web" });
      await its.world.add("c", { pool: "web", ...held(holdId(0)) });
      expect(
        await markListed(its.world.nodes, { scope: poolScope("batch"), holdId: holdId(1) }),
      ).toMatchObject({
        marked: 1,
        adopted: 0,
      });
      expect(await ours("a")).toEqual(heldIn(holdId(1)));
      expect(await ours("b")).toEqual(bare);
      expect(await ours("c")).toEqual(heldIn(holdId(0)));
    });

    it("lists the marks of every hold, whole or half, wherever they are", async () => {
      await its.world.add("a", held(holdId(1)));
      await its.world.add("b", held(holdId(2)));
      await its.world.add("c", { labels: marked(holdId(2)), pool: null });
      await its.world.add("d", { labels: marked(neverHold) });
      await its.world.add("e");
      const listed = await its.world.nodes.listMarked(soon());
      expect(listed.map(({ name, labels }) => [name, labels?.[holdLabel]]).toSorted()).toEqual([
        ["a", holdId(1)],
        ["b", holdId(2)],
        ["c", holdId(2)],
      ]);
    });

    it("lists the NodePools that have a node, whatever is on it", async () => {
      await its.world.add("a", { ...held(holdId(1)), pool: "web" });
      await its.world.add("b", { labels: marked(neverHold) });
      await its.world.add("c", { pool: "web" });
      await its.world.add("d", { pool: null });
      expect([...(await its.world.nodes.nodePools(soon()))].toSorted()).toEqual(["default", "web"]);
    });
  });

  describe("with some NodePools only", () => {
    it.each([
      ["those named", { only: ["batch", "ci"], except: [] }, ["batch", "ci"]],
      ["all but those named", { only: [], except: ["batch", "web"] }, ["ci"]],
      ["those named but not those left out", { only: ["batch", "ci"], except: ["ci"] }, ["batch"]],
    ])("sees and touches %s", async (_, nodePools: NodePoolFilter, expected) => {
      const world = await open({ nodePools });
      try {
        for (const pool of ["batch", "ci", "web"]) await world.add(pool, { pool });
        const listed = await world.nodes.list(wholeCluster, soon());
        expect(listed.map(({ name }) => name).toSorted()).toEqual(expected);
        expect(await markListed(world.nodes, { holdId: holdId(1) })).toMatchObject({
          marked: expected.length,
        });
        const outside = await markListed(world.nodes, { scope: poolScope("web"), holdId: holdId(2) });
        expect(outside).toMatchObject({ marked: 0, adopted: 0, left: false });
      } finally {
        await world.close();
      }
    });
  });
}
