import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { NodeEvent } from "../../lambda/core/ports.ts";
import type { KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { isStatus } from "../../lambda/kubernetes/error.ts";
import { nodeEventsFor } from "../../lambda/kubernetes/node-events.ts";
import { CollectedLog, CollectedMetrics } from "../../simulator/collected-log.ts";
import { within } from "../support/context.ts";

/** A cluster for one test: `admin` prepares it, the port works as `holder`. */
export type EventsWorld = Readonly<{
  admin: KubernetesCaller;
  holder: KubernetesCaller;
  close: () => Promise<void>;
}>;

const clock = { now: () => new Date() };
const settings = { mode: "hold", nodeEvents: true } as const;
const path = "/api/v1/namespaces/default/events";
const soon = () => within(120_000);

/** The promises of the port that writes Events about nodes, and how an API server answers it. */
export function nodeEventsContract(open: () => Promise<EventsWorld>): void {
  describe("Events about nodes", () => {
    let world: EventsWorld;
    let node: Readonly<{ name: string; uid: string }>;
    let log: CollectedLog;
    let metrics: CollectedMetrics;
    beforeEach(async () => {
      world = await open();
      [log, metrics] = [new CollectedLog(), new CollectedMetrics()];
      // Another name for each test: Events outlive their node.
      const name = `events-${Date.now()}`;
      const body = { apiVersion: "v1", kind: "Node", metadata: { name } };
      const made = await world.admin.call({ method: "POST", path: "/api/v1/nodes", body }, soon());
      node = { name, uid: Object(made).metadata.uid };
    });
    afterEach(async () => {
      await world.admin.call({ method: "DELETE", path: `/api/v1/nodes/${node.name}` }, soon());
      await world.close();
    });

    const held = (at = new Date(), message = "Held until 12:20Z: a launch"): NodeEvent => ({
      ...{ node, reason: "Held", message, at },
    });
    const write = async (...events: readonly NodeEvent[]) => {
      const port = nodeEventsFor(settings, { api: world.holder, clock, metrics });
      for (const event of events) port?.note(event);
      await port?.write({ ...soon(), log });
    };
    const list = async () => {
      const fieldSelector = `involvedObject.kind=Node,involvedObject.name=${node.name},involvedObject.uid=${node.uid}`;
      const answer = await world.admin.call({ method: "GET", path, query: { fieldSelector } }, soon());
      return Object(answer).items as readonly unknown[];
    };

    it("are found by the node's own uid, as kubectl looks for them", async () => {
      const at = new Date("2026-01-31T12:00:00.500Z");
      await write(held(at));
      expect(await list()).toMatchObject([
        {
          involvedObject: { kind: "Node", name: node.name, uid: node.uid },
          ...{ type: "Normal", reason: "Held", message: "Held until 12:20Z: a launch" },
          ...{ source: { component: "karpenter-node-holder" }, reportingComponent: "karpenter-node-holder" },
          ...{ firstTimestamp: "2026-01-31T12:00:00Z", lastTimestamp: "2026-01-31T12:00:00Z", count: 1 },
        },
      ]);
    });

    it("are written once, also where an answer was lost", async () => {
      const at = new Date();
      await write(held(at));
      await write(held(at));
      expect([await list(), log.lines]).toEqual([[expect.anything()], []]);
    });

    it("may be about a request whose reason is as long as it can be", async () => {
      await write(held(new Date(), `Held until 12:20Z: ${"x".repeat(1_200)}`));
      expect(await list()).toMatchObject([{ message: expect.stringMatching(/^.{1024}$/) }]);
    });

    it("may be about a node whose name is as long as it can be", async () => {
      const name = `${"a.".repeat(122)}${Date.now().toString(16).slice(-9)}`;
      const long = { ...node, name };
      await write({ ...held(), node: long });
      expect(log.lines).toEqual([]);
      const query = { fieldSelector: `involvedObject.name=${name}` };
      const answer = await world.admin.call({ method: "GET", path, query }, soon());
      expect(Object(answer).items).toMatchObject([{ involvedObject: { name } }]);
    });

    it("are refused in another namespace, without a name, and a second time", async () => {
      const event = (namespace: string, metadata: object) => ({
        method: "POST" as const,
        path: `/api/v1/namespaces/${namespace}/events`,
        body: {
          apiVersion: "v1",
          kind: "Event",
          metadata,
          involvedObject: { kind: "Node", name: node.name },
        },
      });
      const name = `${node.name}.1`;
      const statusOf = (call: ReturnType<typeof event>) =>
        world.admin.call(call, soon()).then(
          () => 201,
          (error: unknown) => [400, 403, 409, 422].find((status) => isStatus(error, status)),
        );
      expect(await statusOf(event("kube-system", { name }))).toBe(422);
      expect(await statusOf(event("default", {}))).toBe(422);
      // Other names than those of most objects are allowed.
      for (const wrong of ["a/b", "a%b", ".."])
        expect(await statusOf(event("default", { name: wrong }))).toBe(422);
      expect(await statusOf(event("default", { name: `${node.name}..${"A".repeat(250)}` }))).toBe(201);
      expect(await statusOf(event("default", { name, namespace: "kube-system" }))).toBe(400);
      expect(await statusOf(event("default", { name }))).toBe(201);
      expect(await statusOf(event("default", { name }))).toBe(409);
    });
  });
}
