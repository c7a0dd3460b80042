import type { CallContext } from "../ports.ts";

/** What a cluster did with a change that was only tried, never written. */
export type Trial = "admitted" | "refused" | "not tried";

/** A node that something other than a hold keeps, and since when at least. */
export type KeptNode = Readonly<{ node: string; since: Date; by?: string }>;

/** A node whose user annotated it with a value that Karpenter passes over. */
export type IneffectiveNode = Readonly<{ node: string; value: string }>;

/** What the cluster shows of itself to those who may only read and mark nodes. */
export type ClusterFindings = Readonly<{
  kubernetes: string;
  /** What we need and may not do, like "patch nodes". */
  missingRights: readonly string[];
  /** What we may do and never need. */
  needlessRights: readonly string[];
  /** A change that is not ours to make must be refused by the admission policy. */
  foreignChange: Trial;
  /** Our mark must be admitted. */
  ownChange: Trial;
  /** What the cluster said where a trial did not end as it must. */
  said?: string;
  /** The cluster's own clock, where a trial reported it. */
  clusterTime?: Date;
  nodes: number;
  /** Karpenter's finalizer blocks the deletion of these nodes, and nothing removes it. */
  stuck: readonly KeptNode[];
  /** Held by their users for longer than a day. */
  userHeld: readonly KeptNode[];
  /** Carry Karpenter's annotation with a value that protects nothing. */
  ineffective: readonly IneffectiveNode[];
}>;

/** Looks around in the cluster with no more rights than the holder has, and changes nothing. */
export interface Inspection {
  inspect(context: CallContext): Promise<ClusterFindings>;
}
