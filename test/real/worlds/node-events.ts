import { beforeAll, expect, it } from "vitest";
import type { KubernetesAccess } from "../../../lambda/cluster-access/cluster-rights.ts";
import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import { reconcile } from "../../../lambda/core/reconcile.ts";
import { wholeCluster } from "../../../lambda/core/scope.ts";
import type { KubernetesCall, KubernetesClient } from "../../../lambda/kubernetes/client.ts";
import { nodeEventsFor } from "../../../lambda/kubernetes/node-events.ts";
import { KubernetesNodes } from "../../../lambda/kubernetes/nodes.ts";
import { World } from "../../../simulator/world.ts";
import { aLaunch, someRules } from "../../support/builders.ts";
import type { ControlPlane } from "../engines/control-plane.ts";
import { until } from "../engines/processes.ts";
import { createNode, outcomeOf, removeNode, soon } from "./tried-node.ts";

type Tried = Readonly<{
  admin: KubernetesClient;
  holder: KubernetesClient;
  plane: ControlPlane;
  accessWith: (options: Readonly<{ nodeEvents: boolean }>) => KubernetesAccess;
}>;

const { annotation, poolLabel, registeredLabel } = Karpenter.v1;
const anEvent = (namespace = "default"): KubernetesCall => ({
  method: "POST",
  path: `/api/v1/namespaces/${namespace}/events`,
  body: {
    ...{ apiVersion: "v1", kind: "Event", reason: "Tried" },
    metadata: { name: `tried-${Date.now()}` },
    involvedObject: { kind: "Node", name: "a", namespace: namespace === "default" ? undefined : namespace },
  },
});

/** What the right to write Events allows on a real API server, and what kubectl shows of them. */
export function nodeEventsOn(given: () => Tried): void {
  const settled = (nodeEvents: boolean, outcome: string) =>
    until("the right to be in force", async () => {
      const { holder, accessWith } = given();
      await accessWith({ nodeEvents }).write(annotation);
      return (await outcomeOf(holder, anEvent())) === outcome;
    });
  beforeAll(() => settled(true, "admitted"));

  it.each<[string, KubernetesCall]>([
    ["create one elsewhere", anEvent("kube-system")],
    ["list them", { method: "GET", path: "/api/v1/namespaces/default/events" }],
    ["delete one", { method: "DELETE", path: "/api/v1/namespaces/default/events/a" }],
  ])("may not %s", async (_, call) => {
    expect(await outcomeOf(given().holder, call)).toBe("refused by RBAC");
  });

  it("kubectl describe node shows who holds the node, until when and why", async () => {
    const { admin, holder: api, plane } = given();
    await createNode(admin, { labels: { [poolLabel]: "default", [registeredLabel]: "true" } });
    const clock = { now: () => new Date() };
    // Record, queue and one-shots in memory, nodes and Events on the real API server.
    const { ports, metrics, log } = new World();
    const options = { api, karpenter: "v1", annotation, metrics } as const;
    const nodes = new KubernetesNodes({ ...options, nodePools: { only: [], except: [] } });
    const nodeEvents = nodeEventsFor({ mode: "hold", nodeEvents: "true" }, { api, clock, metrics });
    const launches = [aLaunch({ launchedAt: clock.now() })];
    const rules = someRules();
    const context = { ...ports, rules, clock, nodes, nodeEvents, ...soon(), log };
    await reconcile(context, wholeCluster, { launches });

    const [, events = ""] = (await plane.kubectl(["describe", "node", "a"])).split("\nEvents:");
    expect(events).toMatch(
      /Normal +Held +\S+ +karpenter-node-holder +Held until (\d{4}-\d\d-\d\d )?\d\d:\d\dZ: a node was launched in NodePool default/,
    );
    await removeNode(admin);
  });

  it("is taken back where the setting is off", async () => {
    await settled(false, "refused by RBAC");
  });
}
