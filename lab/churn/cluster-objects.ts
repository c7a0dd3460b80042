import { nodePool } from "../../test/real/engines/karpenter.ts";
import type { Service } from "./workload.ts";

const sizes = { key: "karpenter.kwok.sh/instance-cpu", operator: "In", values: ["2", "4"] };

/** A NodePool of nodes with 2 or 4 cores that Karpenter consolidates after this time. */
export function churnPool(consolidateAfter: string): readonly object[] {
  const objects = structuredClone(nodePool({ name: "default", consolidateAfter }));
  for (const object of objects) {
    const requirements = Reflect.get(object, "spec")?.template?.spec?.requirements;
    if (Array.isArray(requirements)) requirements.push(sizes);
  }
  return objects;
}

/** A Deployment that is never scaled: whoever ends one of its pods has evicted it. */
export function serviceObject({ name, replicas, cpu }: Service): object {
  const labels = { service: name };
  const containers = [{ name: "main", image: `registry.invalid/${name}`, resources: { requests: { cpu } } }];
  const template = { metadata: { labels }, spec: { containers, terminationGracePeriodSeconds: 0 } };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "default" },
    spec: { replicas, selector: { matchLabels: labels }, template },
  };
}
