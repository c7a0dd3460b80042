import { isHoldId } from "./hold-id.ts";

/** Every annotation, label and tag key, once. */
export const holdLabel = "karpenter-node-holder/hold";
/** The label's value that excludes a node from every hold. */
export const neverHold = "never";
export const markValue = "true";
/** Whether the label excludes its node from every hold: any value but a hold's id is the user's, and means `never`. */
export const isExcluded = (label: string | undefined): boolean => label !== undefined && !isHoldId(label);

export type KarpenterGeneration = "v1" | "v0.31";

/** What differs between Karpenter's generations. */
export const Karpenter = {
  v1: {
    annotation: "karpenter.sh/do-not-disrupt",
    poolLabel: "karpenter.sh/nodepool",
    poolTag: "karpenter.sh/nodepool",
    registeredLabel: "karpenter.sh/registered",
  },
  "v0.31": {
    annotation: "karpenter.sh/do-not-consolidate",
    poolLabel: "karpenter.sh/provisioner-name",
    poolTag: "karpenter.sh/provisioner-name",
    // Its oldest versions have no label for that. A node is registered before it is initialized, and not disrupted sooner.
    registeredLabel: "karpenter.sh/initialized",
  },
} as const satisfies Record<
  KarpenterGeneration,
  { annotation: string; poolLabel: string; poolTag: string; registeredLabel: string }
>;

/**
 * Whether a user's annotation protects nothing: Karpenter 1.0 and later knows one value, on Nodes and in templates.
 * The value "false" is no mistake: it protects nothing on purpose.
 */
export const isIneffective = (annotation: string, value: string | undefined): value is string =>
  annotation === Karpenter.v1.annotation && value !== undefined && value !== markValue && value !== "false";

export const clusterTag = (cluster: string): string => `kubernetes.io/cluster/${cluster}`;

/** How EKS Auto Mode tags the instances of a cluster; taken from its documents, not proven on an account. */
export const AutoMode = {
  clusterTag: "eks:eks-cluster-name",
  poolTag: "eks:kubernetes-node-pool-name",
} as const;

type LaunchTags = Readonly<{ cluster: string; value: string; pools: readonly string[] }>;

/** The tags by which a launch for this cluster is recognised: Karpenter's own, and those of EKS Auto Mode. */
export const launchTags = (cluster: string): readonly LaunchTags[] => [
  { cluster: clusterTag(cluster), value: "owned", pools: poolTags },
  { cluster: AutoMode.clusterTag, value: cluster, pools: [AutoMode.poolTag] },
];

const poolTags: readonly string[] = [...new Set(Object.values(Karpenter).map(({ poolTag }) => poolTag))];

/** The NodePool that an instance's tags name, if they are those of a launch for this cluster. */
export const nodePoolIn = (
  tags: ReadonlyMap<string, string | undefined>,
  cluster: string,
): string | undefined =>
  launchTags(cluster)
    .filter((known) => tags.get(known.cluster) === known.value)
    .flatMap(({ pools }) => pools.map((tag) => tags.get(tag)))
    .find((pool) => pool !== undefined);

/** Group, ClusterRole, binding and admission policy all carry this name. */
export const holderName = "karpenter-node-holder";

/** A key with a prefix, as Kubernetes names annotations of tools: example.com/keep. None of its characters needs an escape. */
export const annotationKey =
  /^(?=.{1,253}\/)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

export const isAnnotationKey = (text: string): boolean => annotationKey.test(text);

/** Managers under whose names the API server itself records fields of which it no longer knows, or never knew, who set them. */
export const namesOfServer = ["ancient-changes", "before-first-apply"] as const;
