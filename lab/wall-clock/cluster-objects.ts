import { type NodePool, nodePool } from "../../test/real/engines/karpenter.ts";
import type { Service } from "../days/traces/trace.ts";

const sizes = { key: "karpenter.kwok.sh/instance-cpu", operator: "In", values: ["2", "4"] };

/** A NodePool of nodes with 2 or 4 cores. */
export function smallNodes(pool: Omit<NodePool, "name">): readonly object[] {
  const objects = structuredClone(nodePool({ ...pool, name: "default" }));
  for (const object of objects) {
    const requirements = Reflect.get(object, "spec")?.template?.spec?.requirements;
    if (Array.isArray(requirements)) requirements.push(sizes);
  }
  return objects;
}

/** A service's Deployment after so many of its changes. */
export function serviceObject(
  { name, cpu, changes = [], surge = 0.25, ...service }: Service,
  changed = 0,
): object {
  const made = changes.slice(0, changed);
  const replicas = made.findLast((change) => change.replicas !== undefined)?.replicas ?? service.replicas;
  const version = made.findLast((change) => change.replicas === undefined)?.at ?? 0;
  const labels = { service: name };
  const containers = [
    { name: "main", image: `registry.invalid/${name}`, resources: { requests: { cpu: String(cpu) } } },
  ];
  const metadata = { labels, annotations: { version: String(version) } };
  const template = { metadata, spec: { containers, terminationGracePeriodSeconds: 1 } };
  const strategy = { rollingUpdate: { maxSurge: `${100 * surge}%`, maxUnavailable: 0 } };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "default" },
    spec: { replicas, strategy, selector: { matchLabels: labels }, template },
  };
}
