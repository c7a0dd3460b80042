import { readFileSync } from "node:fs";
import { KubernetesAccess } from "../../lambda/cluster-access/cluster-rights.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import { KubernetesClient } from "../../lambda/kubernetes/client.ts";
import { kubeconfigLogin } from "../../lambda/kubernetes/kubeconfig-login.ts";
import { KubernetesNodes } from "../../lambda/kubernetes/nodes.ts";
import { systemClock } from "../../lambda/system-clock.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { karpentersLabels } from "../../simulator/fake-ec2.ts";
import { type ControlPlane, tokenOf, type User } from "../../test/real/engines/control-plane.ts";
import { until } from "../../test/real/engines/processes.ts";
import type { ApiServer, BareLoop } from "./bare-loop.ts";

const noMetrics = { add: () => {} };

/** Bare HTTP to this control plane. */
export const apiServerOf = (plane: ControlPlane, user: User): ApiServer => ({
  server: plane.server,
  ca: readFileSync(`${plane.folder}/certs/apiserver.crt`),
  token: tokenOf(user),
});

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

function clientOf(plane: ControlPlane, user: User): KubernetesClient {
  return new KubernetesClient({
    login: kubeconfigLogin(plane.config(user)),
    clock: systemClock,
    metrics: noMetrics,
  });
}

/** Lets the holder in as a deployment does, and waits until its policy is in force. */
export async function installRights(plane: ControlPlane): Promise<void> {
  const api = clientOf(plane, "admin");
  const access = new KubernetesAccess({ api, clock: systemClock, log: new CollectedLog() });
  await access.write([Karpenter.v1.annotation]);
  await api.close();
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
  const api = clientOf(plane, "holder");
  const nodes = new KubernetesNodes({
    api,
    karpenter: "v1",
    annotation: Karpenter.v1.annotation,
    nodePools: { only: [], except: [] },
    clock: systemClock,
    metrics: noMetrics,
  });
  return { nodes, close: () => api.close() };
}
