import type { Clock, Metrics } from "../../lambda/core/ports.ts";
import type { KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { nodeEventsFor } from "../../lambda/kubernetes/node-events.ts";
import { KubernetesNodeClaims } from "../../lambda/kubernetes/nodeclaims.ts";
import { KubernetesNodes } from "../../lambda/kubernetes/nodes.ts";
import { KubernetesPods } from "../../lambda/kubernetes/pods.ts";
import type { Settings } from "../../lambda/settings.ts";

type Caller = Readonly<{ api: KubernetesCaller; clock: Clock; metrics: Metrics }>;

/** The cluster as the holder's core sees it. */
export function clusterPorts(settings: Settings, { api, clock, metrics }: Caller) {
  const { karpenter, holdAnnotation: annotation, nodePools } = settings;
  return {
    nodes: new KubernetesNodes({ api, karpenter, annotation, nodePools, metrics }),
    nodeClaims: new KubernetesNodeClaims({ api, karpenter, nodePools }),
    pods: new KubernetesPods({ api }),
    nodeEvents: nodeEventsFor(settings, { api, clock, metrics }),
  };
}
