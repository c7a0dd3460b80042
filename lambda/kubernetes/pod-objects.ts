import * as v from "valibot";

const texts = v.nullish(v.record(v.string(), v.string()), {});
const quantities = v.nullish(v.record(v.string(), v.union([v.string(), v.number()])), {});
const resources = v.nullish(v.object({ requests: quantities }), { requests: {} });
const ports = v.nullish(v.array(v.object({ hostPort: v.nullish(v.number()) })), []);
const containers = v.nullish(
  v.array(v.object({ resources, ports, restartPolicy: v.nullish(v.string()) })),
  [],
);
const selector = v.object({
  matchLabels: texts,
  matchExpressions: v.nullish(
    v.array(v.object({ key: v.string(), operator: v.string(), values: v.nullish(v.array(v.string()), []) })),
    [],
  ),
});
const podTerm = v.object({
  topologyKey: v.string(),
  labelSelector: v.nullish(selector),
  namespaces: v.nullish(v.array(v.string()), []),
  namespaceSelector: v.nullish(v.unknown()),
});

/** The fields of a pod that are used; all others are dropped as the pages arrive. */
export const podSchema = v.object({
  metadata: v.object({
    namespace: v.nullish(v.string(), ""),
    labels: texts,
    annotations: texts,
    deletionTimestamp: v.nullish(v.string()),
    ownerReferences: v.nullish(
      v.array(v.object({ kind: v.string(), controller: v.nullish(v.boolean()) })),
      [],
    ),
  }),
  spec: v.object({
    nodeName: v.nullish(v.string(), ""),
    containers,
    initContainers: containers,
    resources,
    resourceClaims: v.nullish(v.array(v.unknown()), []),
    restartPolicy: v.nullish(v.string(), "Always"),
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
          maxSkew: v.nullish(v.number(), 1),
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
export type Pod = v.InferOutput<typeof podSchema>;

export const budgetSchema = v.object({
  metadata: v.object({ namespace: v.nullish(v.string(), "") }),
  spec: v.object({ selector: v.nullish(selector) }),
  status: v.nullish(v.object({ disruptionsAllowed: v.nullish(v.number(), 0) }), { disruptionsAllowed: 0 }),
});
export type Budget = v.InferOutput<typeof budgetSchema>;
