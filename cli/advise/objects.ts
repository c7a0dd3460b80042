import * as v from "valibot";
import { budgetSchema as evictionBudget, podSchema } from "../../lambda/kubernetes/pod-objects.ts";
import { quoted } from "../terminal/text.ts";

/** The fields of Kubernetes objects that advice is drawn from. */
const texts = v.nullish(v.record(v.string(), v.string()), {});
const moment = v.pipe(v.string(), v.toDate());

const budgetSchema = v.object({
  nodes: v.nullish(v.string(), "10%"),
  reasons: v.nullish(v.array(v.string())),
  schedule: v.nullish(v.string()),
  duration: v.nullish(v.string()),
});
export type NodePoolBudget = v.InferOutput<typeof budgetSchema>;

const disruption = v.object({
  consolidateAfter: v.nullish(v.string(), "0s"),
  consolidationPolicy: v.nullish(v.string(), "WhenEmptyOrUnderutilized"),
  budgets: v.nullish(v.array(budgetSchema), [{ nodes: "10%" }]),
});

export const nodePoolSchema = v.object({
  metadata: v.object({ name: v.string(), annotations: texts }),
  spec: v.object({
    replicas: v.nullish(v.number()),
    disruption: v.nullish(disruption, {}),
    template: v.object({
      metadata: v.nullish(v.object({ annotations: texts }), {}),
      spec: v.nullish(
        v.object({
          expireAfter: v.nullish(v.string(), "720h"),
          nodeClassRef: v.nullish(v.object({ group: v.nullish(v.string(), "") })),
        }),
        {},
      ),
    }),
  }),
});
export type NodePool = v.InferOutput<typeof nodePoolSchema>;
/** The command that changes how its nodes are disrupted. */
export function patchOf(pool: NodePool, disruption: object): string {
  const patch = JSON.stringify({ spec: { disruption } });
  return `kubectl patch nodepool ${quoted(pool.metadata.name)} --type merge -p ${quoted(patch)}`;
}

/** Karpenter ignores consolidationPolicy and consolidateAfter of a static NodePool. */
export const isStatic = ({ spec }: NodePool): boolean => typeof spec.replicas === "number";

/** EKS Auto Mode runs Karpenter outside of the cluster, with node classes of its own. */
export const isOfAutoMode = ({ spec }: NodePool): boolean =>
  spec.template.spec.nodeClassRef?.group === "eks.amazonaws.com";
/** Whether its settings can be changed: AWS allows that for all but the two NodePools that it brings along. */
export const isChangeable = (pool: NodePool): boolean =>
  !isOfAutoMode(pool) || !["general-purpose", "system"].includes(pool.metadata.name);

export const nodeClaimSchema = v.object({
  metadata: v.object({ name: v.string(), creationTimestamp: moment, labels: texts }),
  spec: v.nullish(v.object({ expireAfter: v.nullish(v.string()) }), {}),
});
export type NodeClaim = v.InferOutput<typeof nodeClaimSchema>;

export const nodeSchema = v.object({
  metadata: v.object({
    name: v.string(),
    creationTimestamp: moment,
    labels: texts,
    annotations: texts,
  }),
  spec: v.nullish(v.object({ providerID: v.nullish(v.string(), "") }), {}),
  status: v.nullish(
    v.object({ allocatable: v.nullish(v.record(v.string(), v.union([v.string(), v.number()])), {}) }),
    {},
  ),
});
export type Node = v.InferOutput<typeof nodeSchema>;

const container = v.object({ name: v.string(), image: v.nullish(v.string(), "") });
const { containers } = podSchema.entries.spec.entries;
const podContainer = v.object({ ...containers.wrapped.item.entries, ...container.entries });
export const podWithNameSchema = v.object({
  metadata: v.object({ ...podSchema.entries.metadata.entries, name: v.string() }),
  spec: v.object({ ...podSchema.entries.spec.entries, containers: v.nullish(v.array(podContainer), []) }),
  status: v.nullish(
    v.object({
      startTime: v.nullish(moment),
      containerStatuses: v.nullish(
        v.array(
          v.object({
            ...container.entries,
            state: v.nullish(v.object({ running: v.nullish(v.object({ startedAt: v.nullish(moment) })) })),
          }),
        ),
        [],
      ),
    }),
    {},
  ),
});
export type NamedPod = v.InferOutput<typeof podWithNameSchema>;

const named = v.object({ name: v.string(), namespace: v.nullish(v.string(), "") });

export const pdbSchema = v.object({
  metadata: named,
  spec: evictionBudget.entries.spec,
  status: v.nullish(
    v.object({ desiredHealthy: v.nullish(v.number(), 0), expectedPods: v.nullish(v.number(), 0) }),
    {},
  ),
});
export type Pdb = v.InferOutput<typeof pdbSchema>;

export const jobSchema = v.object({ metadata: named });
export type Job = v.InferOutput<typeof jobSchema>;

export const eventSchema = v.object({
  reason: v.nullish(v.string(), ""),
  message: v.nullish(v.string(), ""),
  involvedObject: v.object({
    kind: v.nullish(v.string(), ""),
    namespace: v.nullish(v.string(), ""),
    name: v.nullish(v.string(), ""),
  }),
  eventTime: v.nullish(moment),
  firstTimestamp: v.nullish(moment),
  lastTimestamp: v.nullish(moment),
});
export type KubernetesEvent = v.InferOutput<typeof eventSchema>;
