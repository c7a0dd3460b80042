import type { Duration } from "aws-cdk-lib";
import type { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { KarpenterGeneration } from "../lambda/core/marks/keys.ts";
import type { HolderVpc } from "./network.ts";

/** `install`: the deployment gives itself its rights in the cluster; `manual`: you apply the printed manifest. */
export type Access = "install" | "manual";

/** A holder's settings; all but the cluster have defaults. */
export interface KarpenterNodeHolderProps {
  /** The EKS cluster's name, as text known at synth. */
  readonly cluster: string;
  /** How long each launch and each use protects, or `auto` to learn it from how soon capacity is needed again (20 minutes). */
  readonly hold?: Duration | "auto";
  /** With `hold: "auto"`, what one needless relaunch of a node is worth, in time of that node (10 minutes). */
  readonly relaunchCost?: Duration;
  /** A hold never lasts longer, whatever launches; zero for no cap (2 hours). */
  readonly maxHold?: Duration;
  /** After a capped hold launches start no new one for this long (10 minutes). */
  readonly breather?: Duration;
  /** Wait before acting on a launch (none). */
  readonly initialDelay?: Duration;
  /** Whether a launch protects the whole cluster or the nodes of its own NodePool (cluster). */
  readonly scope?: "cluster" | "nodepool";
  /** NodePools to include, or to leave out with a `!` before the name (all are included). */
  readonly nodePools?: readonly string[];
  /** Whether launches by which Karpenter replaces other nodes start and extend holds, too (ignore). */
  readonly replacements?: "ignore" | "hold";
  /** What extends a hold: use of the nodes launched for it and launches, or launches alone (use). */
  readonly extendOn?: "use" | "launches";
  readonly karpenter?: KarpenterGeneration;
  /** Another annotation than the one of Karpenter's generation. */
  readonly holdAnnotation?: string;
  /** How often a sweep compares record, nodes and clock (5 minutes). */
  readonly sweepEvery?: Duration;
  readonly access?: Access;
  /** Where the functions run, for a cluster whose endpoint is private: ids, or a VPC of the CDK (no VPC). */
  readonly vpc?: HolderVpc;
  /** Where your people read docs/operating.md (that path); each alarm links to its heading there. */
  readonly runbookUrl?: string;
  /** Receives every alarm. */
  readonly alarmTopic?: ITopic;
  readonly logRetention?: RetentionDays;
  /** Reserve one concurrent execution for the sweep, so that two sweeps never run at once (false). */
  readonly reserveConcurrency?: boolean;
}
