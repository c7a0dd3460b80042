import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BrokenSetupError, TryAgainError } from "../../lambda/core/errors.ts";
import { holderName, holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import type { Fault } from "../../simulator/fake-kubernetes/faults.ts";
import { textsOf } from "../../simulator/fake-kubernetes/objects.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { within } from "../support/context.ts";
import { NodesOnFakeServer } from "./nodes-on-fake-server.ts";

const { annotation, poolLabel, registeredLabel } = Karpenter.v1;
const names = ["a", "b", "c", "d", "e"];

describe("nodes behind an API server", () => {
  let world: NodesOnFakeServer;
  beforeEach(async () => {
    world = await NodesOnFakeServer.open();
  });
  afterEach(() => world.close());

  const mark = (id?: string) => world.mark(id);
  const release = (id?: string) => world.release(id);
  const heldBy = (id: string) =>
    world.standIn
      .nodes()
      .filter(({ metadata }) => textsOf(metadata.labels)[holdLabel] === id)
      .filter(({ metadata }) => textsOf(metadata.annotations)[annotation] === "true")
      .map(({ metadata }) => metadata.name);
  const beforeFirstPatch = (action: () => void) => {
    world.onRequest = ({ method }) => {
      if (method !== "PATCH") return;
      world.onRequest = () => {};
      action();
    };
  };
  const callsOf = (method: string) => world.asked.filter((asked) => asked.method === method);

  it("costs one list, by pages, and one patch to mark a new node inside a hold", async () => {
    world.add(...names);
    await mark();
    world.add("new-node");
    world.asked.length = 0;

    expect(await mark()).toMatchObject({ marked: 1 });
    expect(world.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      ...Array(3).fill("GET /api/v1/nodes"),
      "PATCH /api/v1/nodes/new-node",
    ]);
  });

  it.each([
    ["v1", "karpenter.sh/registered"],
    ["v0.31", "karpenter.sh/initialized"],
  ] as const)(
    "marks a node of Karpenter %s only after it has registered and has the annotations of its template",
    async (karpenter, label) => {
      await world.close();
      world = await NodesOnFakeServer.open(2, karpenter);
      const { annotation: own, poolLabel: pool } = Karpenter[karpenter];
      world.standIn.addNode({ name: "young", labels: { [pool]: "default" } });
      const before = await mark();
      world.standIn.editNode("young", { labels: { [label]: "true" }, annotations: { [own]: "true" } });
      const after = await mark();
      await release();

      expect(before).toMatchObject({ marked: 0, userHeld: 0 });
      expect(after).toMatchObject({ marked: 0, userHeld: 1 });
      const [young] = world.standIn.nodes();
      expect(textsOf(young?.metadata.annotations)).toEqual({ [own]: "true" });
    },
  );

  it.each([registeredLabel, poolLabel])(
    "does not mark a node that lost its label %s since the list",
    async (key) => {
      world.add("a");
      beforeFirstPatch(() =>
        world.standIn.editNode("a", { labels: { [key]: null, [holdLabel]: holdId(0) } }),
      );
      expect(await mark()).toMatchObject({ marked: 0, adopted: 0, failed: 0 });
      expect(heldBy(holdId(1))).toEqual([]);
    },
  );

  it("asks for metadata alone", async () => {
    world.add("a");
    await mark();
    await release();
    expect(world.asked.length).toBeGreaterThan(3);
    for (const { accept } of world.asked) expect(accept).toContain("as=PartialObjectMetadata");
  });

  describe.each<[string, Fault]>([
    ["429 with Retry-After", { kind: "status", status: 429, headers: { "retry-after": "3" } }],
    ["a conflict", { kind: "status", status: 409 }],
    ["500", { kind: "status", status: 500 }],
    ["503", { kind: "status", status: 503 }],
    ["a reset", { kind: "reset" }],
    ["no answer", { kind: "hang" }],
    ["an answer that is lost", { kind: "lost" }],
  ])("with %s on any one call", (what, fault) => {
    const isListProof = what === "a conflict";

    it.each([1, 2, 3, 4, 5, 6, 7, 8])("loses no mark (call %i)", async (nth) => {
      world.add(...names);
      world.standIn.editNode("b", {
        labels: { [holdLabel]: holdId(0) },
        annotations: { [annotation]: "true" },
      });
      strike(nth);

      const result = await mark();

      expect(result).toMatchObject({ failed: 0, left: false, userHeld: 0 });
      expect(result.marked + result.adopted).toBe(5);
      expect(heldBy(holdId(1))).toEqual(names);
      expect(world.standIn.annotationHistory("b", annotation)).toEqual([undefined, "true"]);
    });

    it.each([1, 2, 3, 4, 5, 6, 7, 8])("loses no release (call %i)", async (nth) => {
      world.add(...names);
      await mark();
      world.asked.length = 0;
      strike(nth);
      expect(await release()).toMatchObject({ released: 5, kept: 0, failed: 0, left: false });
      for (const { metadata } of world.standIn.nodes()) {
        expect(textsOf(metadata.annotations)).toEqual({});
        expect(textsOf(metadata.labels)).not.toHaveProperty(holdLabel);
      }
    });

    function strike(nth: number): void {
      world.onRequest = ({ method }) => {
        // A list meets no conflicts.
        if (isListProof && method === "GET") return;
        if (world.asked.length !== nth) return;
        world.standIn.fail(fault);
        if (fault.kind === "hang") setImmediate(() => world.timeOut());
      };
    }
  });

  it.each([
    ["the server fails", 500],
    ["a webhook refuses it", 403],
  ])("changes all other nodes when one cannot be changed: %s; reports which and why", async (_, status) => {
    world.add(...names);
    const patchOfB = { method: "PATCH", path: "/api/v1/nodes/b" };
    world.standIn.fail({ kind: "status", status, message: "the reason" }, patchOfB, 99);

    const result = await mark();

    expect(result).toMatchObject({ marked: 4, failed: 1, left: false });
    expect(heldBy(holdId(1))).toEqual(["a", "c", "d", "e"]);
    // Only a node that has changed meanwhile is read again.
    expect(callsOf("GET").map(({ path }) => path)).not.toContain("/api/v1/nodes/b");
    expect(world.metrics.total("NodePatchFailures")).toBe(1);
    expect(world.metrics.total("NodesHeld")).toBe(4);
    const [reported] = world.log.reported("a node could not be changed");
    expect(reported?.node).toBe("b");
    expect(String(reported?.error)).toMatch(/the reason/);
  });

  it("gives a node up when its patch is refused three times", async () => {
    world.add("a");
    world.standIn.fail(
      { kind: "status", status: 422, message: "refused by a policy" },
      { method: "PATCH" },
      99,
    );
    expect(await mark()).toMatchObject({ marked: 0, failed: 1 });
    expect(callsOf("PATCH")).toHaveLength(3);
    expect(String(world.log.reported("a node could not be changed")[0]?.error)).toMatch(
      /refused by a policy/,
    );
  });

  it("stops at all nodes when the login is refused in the middle, and reports that once", async () => {
    world.add(...names);
    world.standIn.fail({ kind: "status", status: 401 }, { method: "PATCH" }, 99);
    const failure = mark();
    await expect(failure).rejects.toBeInstanceOf(BrokenSetupError);
    await expect(failure).rejects.toThrow(/check that the cluster has an access entry/);
    expect(world.metrics.total("NodePatchFailures")).toBe(0);
    expect(world.logins).toBe(1);
  });

  it("stops in the middle when the time is over, and the next call does the rest", async () => {
    // More than are changed at the same time.
    const many = Array.from({ length: 40 }, (_, i) => `node-${10 + i}`);
    world.add(...many);
    const context = world.soon();
    world.onRequest = ({ method }) => {
      if (method === "PATCH") world.ahead += 61_000;
    };

    const first = await world.mark(holdId(1), context);
    world.onRequest = () => {};
    const second = await mark();

    expect(first).toMatchObject({ failed: 0, left: true });
    expect(first.marked).toBeLessThan(40);
    expect(world.metrics.total("NodePatchFailures")).toBe(0);
    expect(second).toMatchObject({ marked: 40 - first.marked, left: false });
    expect(heldBy(holdId(1))).toEqual(many);
  });

  it("counts a failed patch when the time is over and not one node could be changed", async () => {
    world.add("a", "b");
    world.standIn.fail({ kind: "hang" }, { method: "PATCH" }, 99);
    world.onRequest = ({ method }) => {
      if (method !== "PATCH") return;
      world.ahead += 61_000;
      setImmediate(() => world.timeOut());
    };
    expect(await mark()).toMatchObject({ marked: 0, failed: 0, left: true });
    expect(world.metrics.total("NodePatchFailures")).toBe(1);
  });

  it("counts what it holds and releases", async () => {
    world.add("free", "older", "users");
    world.standIn.editNode("users", { annotations: { [annotation]: "true" } });
    const marked = { labels: { [holdLabel]: holdId(0) }, annotations: { [annotation]: "true" } };
    world.standIn.editNode("older", marked, holderName);

    await mark();
    await release();

    expect(world.metrics.total("NodesHeld")).toBe(2);
    expect(world.metrics.total("NodesReleased")).toBe(2);
  });

  it("returns no partial list when the time is over", async () => {
    const past = within(-1);
    await expect(world.nodes.list(wholeCluster, past)).rejects.toBeInstanceOf(TryAgainError);
    await expect(world.nodes.listMarked(past)).rejects.toBeInstanceOf(TryAgainError);
    await expect(world.nodes.nodePools(past)).rejects.toBeInstanceOf(TryAgainError);
  });
});
