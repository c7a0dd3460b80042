import * as v from "valibot";
import { TryAgainError } from "../core/errors.ts";
import type { CallContext, Pods, Unavailable } from "../core/ports.ts";
import type { Bound, Needs } from "../core/room.ts";
import type { KubernetesCaller } from "./client.ts";
import { isStatus } from "./error.ts";
import { type PageQuery, pagesOf } from "./node-lists.ts";
import { readResources } from "./quantity.ts";

export type KubernetesPodsOptions = Readonly<{ api: KubernetesCaller; pageSize?: number }>;

const podsPath = "/api/v1/pods";
const budgetsPath = "/apis/policy/v1/poddisruptionbudgets";
const bound = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed";

const noRight: Unavailable = {
  unavailable:
    "the holder may not list pods and PodDisruptionBudgets, so hold=auto holds like a constant hold; the manifest for hold=auto has this right",
  isMissingRight: true,
};

const texts = v.nullish(v.record(v.string(), v.string()), {});
const quantities = v.nullish(v.record(v.string(), v.union([v.string(), v.number()])), {});
const resources = v.nullish(v.object({ requests: quantities }), { requests: {} });
const containers = v.nullish(v.array(v.object({ resources, restartPolicy: v.nullish(v.string()) })), []);
const selector = v.object({
  matchLabels: texts,
  matchExpressions: v.nullish(
    v.array(v.object({ key: v.string(), operator: v.string(), values: v.nullish(v.array(v.string()), []) })),
    [],
  ),
});
const podTerm = v.object({ topologyKey: v.string(), labelSelector: v.nullish(selector) });

/** The fields of a pod that are used; all others are dropped as the pages arrive. */
const podSchema = v.object({
  metadata: v.object({
    namespace: v.nullish(v.string(), ""),
    labels: texts,
    annotations: texts,
    deletionTimestamp: v.nullish(v.string()),
    ownerReferences: v.nullish(
      v.array(v.object({ kind: v.string(), apiVersion: v.string(), controller: v.nullish(v.boolean()) })),
      [],
    ),
  }),
  spec: v.object({
    nodeName: v.nullish(v.string(), ""),
    containers,
    initContainers: containers,
    overhead: quantities,
    nodeSelector: texts,
    tolerations: v.nullish(
      v.array(
        v.object({
          key: v.nullish(v.string(), ""),
          operator: v.nullish(v.string(), "Equal"),
          value: v.nullish(v.string(), ""),
          effect: v.nullish(v.string(), ""),
        }),
      ),
      [],
    ),
    volumes: v.nullish(
      v.array(v.object({ persistentVolumeClaim: v.nullish(v.unknown()), ephemeral: v.nullish(v.unknown()) })),
      [],
    ),
    topologySpreadConstraints: v.nullish(
      v.array(
        v.object({
          topologyKey: v.string(),
          whenUnsatisfiable: v.string(),
          labelSelector: v.nullish(selector),
        }),
      ),
      [],
    ),
    affinity: v.nullish(
      v.object({
        nodeAffinity: v.nullish(
          v.object({
            requiredDuringSchedulingIgnoredDuringExecution: v.nullish(
              v.object({
                nodeSelectorTerms: v.array(
                  v.object({
                    matchExpressions: v.nullish(
                      v.array(
                        v.object({
                          key: v.string(),
                          operator: v.string(),
                          values: v.nullish(v.array(v.string()), []),
                        }),
                      ),
                      [],
                    ),
                    matchFields: v.nullish(v.array(v.unknown()), []),
                  }),
                ),
              }),
            ),
          }),
        ),
        podAffinity: v.nullish(
          v.object({ requiredDuringSchedulingIgnoredDuringExecution: v.nullish(v.array(podTerm), []) }),
        ),
        podAntiAffinity: v.nullish(
          v.object({ requiredDuringSchedulingIgnoredDuringExecution: v.nullish(v.array(podTerm), []) }),
        ),
      }),
    ),
  }),
});
type Pod = v.InferOutput<typeof podSchema>;

const budgetSchema = v.object({
  metadata: v.object({ namespace: v.nullish(v.string(), "") }),
  spec: v.object({ selector: v.nullish(selector) }),
  status: v.nullish(v.object({ disruptionsAllowed: v.nullish(v.number(), 0) }), { disruptionsAllowed: 0 }),
});
type Budget = v.InferOutput<typeof budgetSchema>;

/** Reads the pods that are on nodes, and reduces each to what decisions need. */
export class KubernetesPods implements Pods {
  readonly #options: KubernetesPodsOptions;

  constructor(options: KubernetesPodsOptions) {
    this.#options = options;
  }

  list(context: CallContext): Promise<readonly Bound[] | Unavailable> {
    return unlessRefused(async () => {
      const full: Budget[] = [];
      for await (const budget of this.#each(budgetsPath, {}, budgetSchema, context))
        if (budget.status.disruptionsAllowed === 0) full.push(budget);
      const pods: Bound[] = [];
      for await (const pod of this.#each(podsPath, { fieldSelector: bound }, podSchema, context))
        pods.push(reduce(pod, full));
      return pods;
    });
  }

  async limits(context: CallContext): Promise<readonly string[]> {
    const found = await unlessRefused(async () => {
      for (const path of [podsPath, budgetsPath])
        await this.#options.api.call({ method: "GET", path, query: { limit: "1" } }, context);
    });
    return found === undefined ? [] : [noRight.unavailable];
  }

  async *#each<T>(
    path: string,
    query: Readonly<Record<string, string>>,
    schema: v.GenericSchema<unknown, T>,
    context: CallContext,
  ): AsyncGenerator<T, void, undefined> {
    const { api, pageSize = 500 } = this.#options;
    const ask = (page: PageQuery) => api.call({ method: "GET", path, query: { ...page, ...query } }, context);
    for await (const { items } of pagesOf(ask, pageSize)) {
      for (const item of items) {
        const { success, output, issues } = v.safeParse(schema, item);
        if (!success) throw new TryAgainError(`${path}: ${v.summarize(issues)}`);
        yield output;
      }
    }
  }
}

async function unlessRefused<T>(work: () => Promise<T>): Promise<T | Unavailable> {
  try {
    return await work();
  } catch (error) {
    if (isStatus(error, 403)) return noRight;
    throw error;
  }
}

const mirror = "kubernetes.io/config.mirror";
const doNotDisrupt = "karpenter.sh/do-not-disrupt";

function reduce({ metadata, spec }: Pod, fullBudgets: readonly Budget[]): Bound {
  const { annotations, deletionTimestamp, ownerReferences } = metadata;
  const owner = ownerReferences.find(({ controller }) => controller) ?? ownerReferences[0];
  const needsNoPlace =
    mirror in annotations || (deletionTimestamp ?? undefined) !== undefined || owner?.kind === "DaemonSet";
  const fixed = needsNoPlace ? undefined : whyFixed(metadata, owner?.kind, fullBudgets);
  return {
    node: spec.nodeName,
    requests: requestsOf(spec),
    needsNoPlace,
    ...(fixed && { fixed }),
    needs: needsNoPlace ? nothing : needsOf(metadata, spec),
  };
}

const nothing: Needs = { labels: {}, tolerations: [] };

function whyFixed(
  { annotations, namespace, labels }: Pod["metadata"],
  owner: string | undefined,
  fullBudgets: readonly Budget[],
): string | undefined {
  const value = annotations[doNotDisrupt];
  if (value !== undefined && value !== "false") return "a pod asks not to be disrupted";
  if (owner === "Job") return "a Job runs on it";
  if (owner === undefined) return "a pod has no owner that would start it again";
  const isProtected = fullBudgets.some(
    (budget) => budget.metadata.namespace === namespace && matches(budget.spec.selector, labels),
  );
  return isProtected ? "a PodDisruptionBudget has no room" : undefined;
}

function matches(given: Budget["spec"]["selector"], labels: Readonly<Record<string, string>>): boolean {
  if (!given) return false;
  const { matchLabels, matchExpressions } = given;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values }) => {
      const value = labels[key];
      if (operator === "In") return value !== undefined && values.includes(value);
      if (operator === "NotIn") return value === undefined || !values.includes(value);
      return operator === "Exists" ? value !== undefined : value === undefined;
    })
  );
}

/** As the scheduler counts: all containers together, or the largest init container if that asks for more. */
function requestsOf({ containers, initContainers, overhead }: Pod["spec"]): Bound["requests"] {
  const total: Record<string, number> = {};
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === "Always");
  for (const amounts of [
    ...[...containers, ...sidecars].map(({ resources }) => resources.requests),
    overhead,
  ])
    for (const [name, amount] of Object.entries(readResources(amounts)))
      total[name] = (total[name] ?? 0) + amount;
  for (const { resources } of initContainers)
    for (const [name, amount] of Object.entries(readResources(resources.requests)))
      total[name] = Math.max(total[name] ?? 0, amount);
  return total;
}

const hostname = "kubernetes.io/hostname";
const zone = "topology.kubernetes.io/zone";

function needsOf(metadata: Pod["metadata"], spec: Pod["spec"]): Needs {
  const { nodeSelector, tolerations, affinity, volumes, topologySpreadConstraints } = spec;
  const labels = new Map<string, readonly string[]>(
    Object.entries(nodeSelector).map(([key, value]) => [key, [value]]),
  );
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = required?.nodeSelectorTerms ?? [];
  const expressions = terms.length === 1 ? (terms[0]?.matchExpressions ?? []) : [];
  for (const { key, operator, values } of expressions)
    if (operator === "In")
      labels.set(
        key,
        values.filter((value) => labels.get(key)?.includes(value) ?? true),
      );
  const spread = topologySpreadConstraints.filter((one) => one.whenUnsatisfiable === "DoNotSchedule");
  const anti = affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const together = affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const apart = [...spread, ...anti].find(({ topologyKey }) => topologyKey === hostname);
  const topologies = [...spread, ...anti].map(({ topologyKey }) => topologyKey);
  const isUnknown =
    terms.length > 1 ||
    (terms[0]?.matchFields.length ?? 0) > 0 ||
    expressions.some(({ operator }) => operator !== "In") ||
    together.length > 0 ||
    topologies.some((key) => key !== hostname && key !== zone);
  const hasVolume = volumes.some(
    ({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim ?? ephemeral,
  );
  return {
    labels: Object.fromEntries(labels),
    tolerations,
    ...((hasVolume || topologies.includes(zone)) && { isOfZone: true }),
    ...(apart && { apart: `${metadata.namespace}/${JSON.stringify(apart.labelSelector ?? {})}` }),
    ...(isUnknown && { isUnknown }),
  };
}
