import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { holdLabel, Karpenter, type KarpenterGeneration, neverHold } from "../../lambda/core/marks/keys.ts";
import type { CallContext, Changed, NodeChange, Nodes } from "../../lambda/core/ports.ts";
import { type NodePoolFilter, poolScope, type Scope, wholeCluster } from "../../lambda/core/scope.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { within } from "../support/context.ts";

/** What a cluster's node looks like to a test. */
export type NodeState = Readonly<{ labels: Record<string, string>; annotations: Record<string, string> }>;

export type NodeAbout = Readonly<{
  /** null: not one of Karpenter's. */
  pool?: string | null;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  providerId?: string;
}>;

export type NodesOptions = Readonly<{
  karpenter?: KarpenterGeneration;
  annotation?: string;
  nodePools?: NodePoolFilter;
}>;

/** A cluster of its own for one test, and the port under test upon it. */
export interface NodesWorld {
  readonly nodes: Nodes;
  add(name: string, about?: NodeAbout): Promise<void>;
  remove(name: string): Promise<void>;
  /** As a user would; undefined takes the key away. */
  edit(name: string, kind: "labels" | "annotations", key: string, value: string | undefined): Promise<void>;
  read(name: string): Promise<NodeState>;
  /** Every value the hold annotation ever had on this node. */
  history(name: string): Promise<readonly (string | undefined)[]>;
  /** Done once, right before the next patch of this node goes out. */
  beforeNextPatch(name: string, action: () => Promise<void>): void;
  close(): Promise<void>;
}

const generations: readonly (readonly [string, NodesOptions])[] = [
  ["Karpenter v1", {}],
  ["Karpenter v0.31", { karpenter: "v0.31" }],
  ["an annotation of one's own", { annotation: "example.com/stay" }],
];

type Marking = Readonly<{ holdId: string; scope?: Scope; context?: CallContext }>;

/** Lists the nodes of a scope and marks all that do not have this mark yet. */
export async function markListed(
  nodes: Nodes,
  { holdId, scope = wholeCluster, context }: Marking,
): Promise<Changed> {
  const listed = await nodes.list(scope, within(60_000));
  const free = listed.filter(({ labels }) => labels?.[holdLabel] !== holdId);
  const changes = free.map((node): NodeChange => ({ do: "mark", node, holdId, scope }));
  return nodes.change(changes, context ?? within(60_000));
}

/** Lists all marks and removes those of a hold. */
export async function releaseListed(
  nodes: Nodes,
  { holdId, scope = wholeCluster, context }: Marking,
): Promise<Changed> {
  const listed = await nodes.listMarked(within(60_000));
  const own = listed.filter(({ labels }) => labels?.[holdLabel] === holdId);
  const changes = own.map((node): NodeChange => ({ do: "release", node, holdId, scope }));
  return nodes.change(changes, context ?? within(60_000));
}

/** Values of our label that are no hold's id: a user wrote them. */
export const usersLabels = [neverHold, "Never", "", "true", "skip", "team-2", "2024", "hold-1"];

/** The promises of the Nodes port; every implementation is held to the same ones. */
export function nodesContract(open: (options: NodesOptions) => Promise<NodesWorld>): void {
  describe.each(generations)("with %s", (_, options) => {
    const annotation = options.annotation ?? Karpenter[options.karpenter ?? "v1"].annotation;
    let world: NodesWorld;
    const soon = () => within(60_000);
    const mark = (id: string) => markListed(world.nodes, { holdId: id });
    const release = (id: string) => releaseListed(world.nodes, { holdId: id });
    const marked = (id: string) => ({ [holdLabel]: id });
    const held = (id: string) => ({ labels: marked(id), annotations: { [annotation]: "true" } });
    const ours = async (name: string) => {
      const { labels, annotations } = await world.read(name);
      return { label: labels[holdLabel], annotation: annotations[annotation] };
    };
    const bare = { label: undefined, annotation: undefined };
    const heldIn = (id: string) => ({ label: id, annotation: "true" });
    beforeEach(async () => {
      world = await open(options);
    });
    afterEach(() => world.close());

    it("marks every node of Karpenter's and lists each with its NodePool", async () => {
      await world.add("a", { providerId: "aws:///eu-west-1a/i-0123456789abcdef0" });
      await world.add("b", { pool: "batch", providerId: "kwok://b" });
      await world.add("c", { providerId: "" });

      const result = await mark(holdId(1));

      expect(result).toMatchObject({ marked: 3, adopted: 0, userHeld: 0, failed: 0, left: false });
      const listed = await world.nodes.list(wholeCluster, soon());
      expect(listed.map(({ name, nodePool }) => [name, nodePool]).toSorted()).toEqual([
        ["a", "default"],
        ["b", "batch"],
        ["c", "default"],
      ]);
      expect(await ours("a")).toEqual(heldIn(holdId(1)));
    });

    it("finds nothing to do where every node is marked", async () => {
      await world.add("a");
      await mark(holdId(1));
      expect(await mark(holdId(1))).toMatchObject({ marked: 0, adopted: 0, failed: 0 });
    });

    it("leaves everything else on a node as it was", async () => {
      await world.add("a", { labels: { team: "blue" }, annotations: { "example.com/note": "mine" } });
      const before = await world.read("a");
      await mark(holdId(1));
      await release(holdId(1));
      expect(await world.read("a")).toEqual(before);
    });

    it("marks a node that has no annotations at all, and takes the mark off again", async () => {
      await world.add("a", { annotations: {} });
      await mark(holdId(1));
      expect(await ours("a")).toEqual(heldIn(holdId(1)));
      expect(await release(holdId(1))).toMatchObject({ released: 1, kept: 0, failed: 0, left: false });
      expect(await ours("a")).toEqual(bare);
    });

    it("does not touch a node that is not Karpenter's", async () => {
      await world.add("a", { pool: null });
      expect(await mark(holdId(1))).toMatchObject({ marked: 0 });
      expect(await ours("a")).toEqual(bare);
    });

    it.each(usersLabels)("never touches a node with the user's label %j", async (label) => {
      await world.add("a", { labels: marked(label) });
      await world.add("b", { labels: marked(label), annotations: { [annotation]: "true" } });
      const before = [await world.read("a"), await world.read("b")];
      expect(await mark(holdId(1))).toMatchObject({ marked: 0, adopted: 0, userHeld: 0, failed: 0 });
      expect(await world.nodes.listMarked(soon())).toEqual([]);
      expect(await release(holdId(1))).toMatchObject({ released: 0, failed: 0 });
      const [node] = await world.nodes.list(wholeCluster, soon());
      if (!node) throw new Error("there is no node");
      const wrong: NodeChange = { do: "mark", node, holdId: label, scope: wholeCluster };
      await expect(world.nodes.change([wrong], soon())).rejects.toThrow("is not the id of a hold");
      expect([await world.read("a"), await world.read("b")]).toEqual(before);
      expect(await world.history("b")).toEqual(["true"]);
    });

    it.each(["true", "false", "4h", ""])("leaves the user's own annotation %j alone", async (value) => {
      await world.add("a", { annotations: { [annotation]: value }, providerId: "aws:///z/i-1" });

      const result = await mark(holdId(1));
      const released = await release(holdId(1));

      expect(result).toMatchObject({ marked: 0, userHeld: 1, failed: 0 });
      expect(released).toMatchObject({ released: 0, kept: 0 });
      expect(await world.history("a")).toEqual([value]);
      expect(await ours("a")).toEqual({ label: undefined, annotation: value });
    });

    it("adopts an older hold's mark without removing the annotation for a moment", async () => {
      await world.add("a");
      await mark(holdId(1));
      const result = await mark(holdId(2));
      expect(result).toMatchObject({ marked: 0, adopted: 1, failed: 0 });
      expect(await world.history("a")).toEqual([undefined, "true"]);
      expect(await ours("a")).toEqual(heldIn(holdId(2)));
    });

    it("completes an older hold's half mark when it adopts it", async () => {
      await world.add("a", { labels: marked(holdId(1)) });
      expect(await mark(holdId(2))).toMatchObject({ marked: 0, adopted: 1 });
      expect(await ours("a")).toEqual(heldIn(holdId(2)));
    });

    it("does not complete a half mark of its own", async () => {
      await world.add("a", { labels: marked(holdId(1)) });
      expect(await mark(holdId(1))).toMatchObject({ marked: 0, adopted: 0 });
      expect(await ours("a")).toEqual({ label: holdId(1), annotation: undefined });
    });

    it("passes a younger hold's mark, whole or half", async () => {
      await world.add("a", held(holdId(2)));
      await world.add("b", { labels: marked(holdId(2)) });
      expect(await mark(holdId(1))).toMatchObject({ marked: 0, adopted: 0, userHeld: 0, failed: 0 });
      expect(await ours("a")).toEqual(heldIn(holdId(2)));
      expect(await ours("b")).toEqual({ label: holdId(2), annotation: undefined });
    });

    it("passes a younger hold's mark that is put on meanwhile", async () => {
      await world.add("a");
      world.beforeNextPatch("a", async () => void (await mark(holdId(2))));
      expect(await mark(holdId(1))).toMatchObject({ marked: 0, adopted: 0, failed: 0 });
      expect(await ours("a")).toEqual(heldIn(holdId(2)));
    });

    it("does not adopt a mark whose annotation the user has changed", async () => {
      await world.add("a", { labels: marked(holdId(1)), annotations: { [annotation]: "8h" } });
      expect(await mark(holdId(2))).toMatchObject({ adopted: 0, userHeld: 1 });
      expect(await ours("a")).toEqual({ label: holdId(1), annotation: "8h" });
    });

    it("releases only the hold that is named", async () => {
      await world.add("a", held(holdId(1)));
      await world.add("b", held(holdId(2)));
      expect(await release(holdId(1))).toMatchObject({ released: 1, kept: 0, failed: 0, left: false });
      expect(await ours("a")).toEqual(bare);
      expect(await ours("b")).toEqual(heldIn(holdId(2)));
    });

    it("releases marks wherever they are, also where settings have changed since", async () => {
      await world.add("a", { ...held(holdId(1)), pool: null });
      expect(await release(holdId(1))).toMatchObject({ released: 1 });
      expect(await ours("a")).toEqual(bare);
    });

    it("releases a half mark", async () => {
      await world.add("a", { labels: marked(holdId(1)) });
      expect(await release(holdId(1))).toMatchObject({ released: 1, kept: 0, failed: 0, left: false });
      expect(await ours("a")).toEqual(bare);
    });

    it("leaves an annotation that the user has changed to the user", async () => {
      await world.add("a", { labels: marked(holdId(1)), annotations: { [annotation]: "8h" } });
      expect(await release(holdId(1))).toMatchObject({ released: 0, kept: 1, failed: 0, left: false });
      expect(await ours("a")).toEqual({ label: undefined, annotation: "8h" });
    });

    it("leaves the annotation to a user who takes the label off", async () => {
      await world.add("a");
      await mark(holdId(1));
      await world.edit("a", "labels", holdLabel, undefined);
      await mark(holdId(1));
      await release(holdId(1));
      expect(await ours("a")).toEqual({ label: undefined, annotation: "true" });
      expect(await world.history("a")).toEqual([undefined, "true"]);
    });

    it("skips a mark that a newer hold has adopted meanwhile", async () => {
      await world.add("a", held(holdId(1)));
      world.beforeNextPatch("a", () => world.edit("a", "labels", holdLabel, holdId(2)));
      expect(await release(holdId(1))).toMatchObject({ released: 0, kept: 1, failed: 0, left: false });
      expect(await ours("a")).toEqual(heldIn(holdId(2)));
    });

    it("reads a node again that changed meanwhile", async () => {
      await world.add("a");
      await world.add("b", held(holdId(1)));
      await world.add("c");
      world.beforeNextPatch("a", () => world.edit("a", "annotations", annotation, "false"));
      world.beforeNextPatch("b", () => world.edit("b", "annotations", annotation, undefined));
      world.beforeNextPatch("c", () => world.edit("c", "labels", holdLabel, neverHold));

      const result = await mark(holdId(2));

      expect(result).toMatchObject({ marked: 0, adopted: 1, userHeld: 1, failed: 0 });
      expect(await ours("a")).toEqual({ label: undefined, annotation: "false" });
      expect(await ours("b")).toEqual(heldIn(holdId(2)));
      expect(await ours("c")).toEqual({ label: neverHold, annotation: undefined });
    });

    it("accepts work that another function has done meanwhile", async () => {
      await world.add("a");
      await world.add("b", held(holdId(1)));
      world.beforeNextPatch("a", async () => {
        await world.edit("a", "annotations", annotation, "true");
        await world.edit("a", "labels", holdLabel, holdId(2));
      });
      expect(await mark(holdId(2))).toMatchObject({ marked: 1, adopted: 1, userHeld: 0, failed: 0 });

      world.beforeNextPatch("b", async () => {
        await world.edit("b", "labels", holdLabel, undefined);
        await world.edit("b", "annotations", annotation, undefined);
      });
      expect(await release(holdId(2))).toMatchObject({ released: 2, kept: 0, failed: 0, left: false });
      expect(await ours("a")).toEqual(bare);
    });

    it("gives the user an annotation that they change during a release", async () => {
      await world.add("a", held(holdId(1)));
      world.beforeNextPatch("a", () => world.edit("a", "annotations", annotation, "8h"));
      expect(await release(holdId(1))).toMatchObject({ released: 0, kept: 1, failed: 0, left: false });
      expect(await ours("a")).toEqual({ label: undefined, annotation: "8h" });
    });

    it("is not disturbed by nodes that are deleted meanwhile", async () => {
      await world.add("a");
      await world.add("b");
      await world.add("c", held(holdId(0)));
      world.beforeNextPatch("a", () => world.remove("a"));
      const result = await mark(holdId(1));
      expect(result).toMatchObject({ marked: 1, adopted: 1, failed: 0, left: false });

      world.beforeNextPatch("b", () => world.remove("b"));
      expect(await release(holdId(1))).toMatchObject({ released: 1, kept: 0, failed: 0, left: false });
    });

    it.each([
      ["one of another NodePool", { pool: "web" }],
      ["one that is not Karpenter's", { pool: null }],
      ["one of the same NodePool", { pool: "batch" }],
    ])("does not mark a node that was replaced under its name by %s", async (_, other) => {
      await world.add("a", { pool: "batch" });
      world.beforeNextPatch("a", async () => {
        await world.remove("a");
        await world.add("a", other);
      });
      const result = await markListed(world.nodes, { scope: poolScope("batch"), holdId: holdId(1) });
      expect(result).toMatchObject({ marked: 0, adopted: 0, userHeld: 0, failed: 0, left: false });
      expect(await ours("a")).toEqual(bare);
    });

    it("does not release a node that was replaced under its name", async () => {
      await world.add("a", held(holdId(1)));
      world.beforeNextPatch("a", async () => {
        await world.remove("a");
        await world.add("a", held(holdId(1)));
      });
      expect(await release(holdId(1))).toMatchObject({ released: 0, kept: 0, failed: 0, left: false });
      expect(await ours("a")).toEqual(heldIn(holdId(1)));
    });

    it("protects only the NodePool of its scope", async () => {
      await world.add("a", { pool: "batch" });
      await world.add("b", { pool: "web" });
      await world.add("c", { pool: "web", ...held(holdId(0)) });
      expect(await markListed(world.nodes, { scope: poolScope("batch"), holdId: holdId(1) })).toMatchObject({
        marked: 1,
        adopted: 0,
      });
      expect(await ours("a")).toEqual(heldIn(holdId(1)));
      expect(await ours("b")).toEqual(bare);
      expect(await ours("c")).toEqual(heldIn(holdId(0)));
    });

    it("stops at the deadline, reports that there is more, and continues when it is called again", async () => {
      await world.add("a");
      const past = within(-1);
      expect(await markListed(world.nodes, { holdId: holdId(1), context: past })).toMatchObject({
        marked: 0,
        left: true,
      });
      expect(await ours("a")).toEqual(bare);
      expect(await mark(holdId(1))).toMatchObject({ marked: 1, left: false });
      expect(await releaseListed(world.nodes, { holdId: holdId(1), context: past })).toMatchObject({
        released: 0,
        left: true,
      });
      expect(await ours("a")).toEqual(heldIn(holdId(1)));
      expect(await release(holdId(1))).toMatchObject({ released: 1, left: false });
    });

    it("lists the marks of every hold, whole or half, wherever they are", async () => {
      await world.add("a", held(holdId(1)));
      await world.add("b", held(holdId(2)));
      await world.add("c", { labels: marked(holdId(2)), pool: null });
      await world.add("d", { labels: marked(neverHold) });
      await world.add("e");
      const listed = await world.nodes.listMarked(soon());
      expect(listed.map(({ name, labels }) => [name, labels?.[holdLabel]]).toSorted()).toEqual([
        ["a", holdId(1)],
        ["b", holdId(2)],
        ["c", holdId(2)],
      ]);
    });

    it("lists the NodePools that have a node, whatever is on it", async () => {
      await world.add("a", { ...held(holdId(1)), pool: "web" });
      await world.add("b", { labels: marked(neverHold) });
      await world.add("c", { pool: "web" });
      await world.add("d", { pool: null });
      expect([...(await world.nodes.nodePools(soon()))].toSorted()).toEqual(["default", "web"]);
    });
  });

  describe("with some NodePools only", () => {
    const soon = () => within(60_000);
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
