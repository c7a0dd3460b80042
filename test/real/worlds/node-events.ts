import { beforeAll, expect, it } from "vitest";
import type { KubernetesAccess } from "../../../lambda/cluster-access/cluster-rights.ts";
import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import type { KubernetesCall, KubernetesClient } from "../../../lambda/kubernetes/client.ts";
import { until } from "../engines/processes.ts";
import { outcomeOf } from "./tried-node.ts";

type Tried = Readonly<{
  holder: KubernetesClient;
  accessWith: (options: Readonly<{ nodeEvents: boolean }>) => KubernetesAccess;
}>;

const { annotation } = Karpenter.v1;
const anEvent = (namespace = "default"): KubernetesCall => ({
  method: "POST",
  path: `/api/v1/namespaces/${namespace}/events`,
  body: {
    ...{ apiVersion: "v1", kind: "Event", reason: "Tried" },
    metadata: { name: `tried-${Date.now()}` },
    involvedObject: { kind: "Node", name: "a", namespace: namespace === "default" ? undefined : namespace },
  },
});

/** What the right to write Events allows on a real API server. */
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

  it("is taken back where the setting is off", async () => {
    await settled(false, "refused by RBAC");
  });
}
