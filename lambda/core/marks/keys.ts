/** Every annotation, label and tag key, once. */
export const holdLabel = "karpenter-node-holder/hold";
/** The label's value with which a user keeps a node out of every hold. */
export const neverHold = "never";
export const markValue = "true";
/** Whether a label's value names a hold: it begins with a date, and no word that somebody else puts there has a digit. */
export const isHold = (label: string | undefined): label is string => /\d/.test(label ?? "");
/** Whether a label keeps its node out of every hold: by `never`, or by another word of somebody's own. */
export const isLeftOut = (label: string | undefined): boolean => Boolean(label) && !isHold(label);

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

/** How EKS Auto Mode tags the instances of a cluster; taken from its documents, not proven on an account. */
export const AutoMode = {
  clusterTag: "eks:eks-cluster-name",
  poolTag: "eks:kubernetes-node-pool-name",
} as const;

export const clusterTag = (cluster: string): string => `kubernetes.io/cluster/${cluster}`;

/** Group, ClusterRole, binding and admission policy all carry this name. */
export const holderName = "karpenter-node-holder";
export { probeDetailType, probeSource } from "../operate/probe.ts";
