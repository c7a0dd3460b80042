import { readFileSync } from "node:fs";
import type { KubeConfig } from "@kubernetes/client-node";
import { KubernetesClient } from "../../lambda/kubernetes/client.ts";
import { readSettings } from "../../lambda/settings.ts";
import { systemClock as clock } from "../../lambda/system-clock.ts";
import { clusterPorts } from "../../local/holder/cluster-ports.ts";
import { kubeconfigLogin } from "../../local/run/kubeconfig-login.ts";
import { karpentersLabels } from "../../simulator/fake-ec2.ts";
import type { ControlPlane } from "../../test/real/engines/control-plane.ts";
import { until } from "../../test/real/engines/processes.ts";
import { applyRights } from "../../test/real/worlds/holder-client.ts";
import type { ApiServer, BareLoop } from "./bare-loop.ts";

/** The API server of a kubeconfig, for bare HTTP. */
export function apiServerOf(config: KubeConfig): ApiServer {
  const { server = "", caFile = "" } = config.getCurrentCluster() ?? {};
  return { server, ca: readFileSync(caFile), token: config.getCurrentUser()?.token ?? "" };
}

export const nodeNames = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `node-${String(i).padStart(6, "0")}`);

/** Puts bare nodes of Karpenter into the cluster. */
export async function createNodes(loop: BareLoop, names: readonly string[]): Promise<void> {
  await loop.each(
    names,
    "POST",
    (name) => ({
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name,
        labels: {
          ...karpentersLabels("v1", "default"),
          "kubernetes.io/arch": "amd64",
        },
        annotations: { "node.alpha.kubernetes.io/ttl": "0" },
      },
      spec: { providerID: `aws:///us-east-1a/i-${name.replace("node-", "0000000000")}` },
    }),
    () => "/api/v1/nodes",
  );
}

/** Lets the holder in as a deployment does, and waits until its policy is in force. */
export async function installRights(plane: ControlPlane): Promise<void> {
  await applyRights(plane, "functions");
  const forbidden = ["annotate", "nodes", "--all", "bench/forbidden=yes", "--dry-run=server"];
  await until("the admission policy to refuse", async () =>
    plane.kubectl(forbidden, "holder").then(
      () => false,
      (error) => /ValidatingAdmissionPolicy/.test(String(error)),
    ),
  );
}

/** The holder's own nodes port, as it is deployed, with the rights of its own user. */
export function holderNodes(plane: ControlPlane) {
  const login = kubeconfigLogin(plane.config("holder"));
  const metrics = { add: () => {} };
  const api = new KubernetesClient({ login, clock, metrics });
  const { nodes } = clusterPorts(readSettings({ cluster: "bench" }), { api, clock, metrics });
  return { nodes, close: () => api.close() };
}
