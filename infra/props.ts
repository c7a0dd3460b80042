import type { Duration } from "aws-cdk-lib";
import type { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { Settings } from "../lambda/settings.ts";
import type { Values } from "../lambda/settings-table.ts";
import type { HolderVpc } from "./network.ts";
import type { deploymentSettings } from "./settings/deployment.ts";

/** `install`: the deployment gives itself its rights in the cluster; `manual`: you apply the printed manifest. */
export type Access = Values<typeof deploymentSettings>["access"];

/** A duration of the CDK, or text like `90s`, `20m`, `1h30m` or `2d`. */
export type HolderDuration = Duration | `${number}${"s" | "m" | "h" | "d"}${string}`;

/** A cluster of the CDK, of `aws-eks` or `aws-eks-v2`. */
export interface HolderCluster {
  /** Its name; a cluster of the same app gives a reference. */
  readonly clusterName: string;
}

/** A holder's settings; all but the cluster have defaults. */
export interface KarpenterNodeHolderProps {
  /** Name of the cluster, or a cluster of the CDK, also of the same app. */
  readonly cluster: string | HolderCluster;
  /** Names the holder's resources, and is what commands take as `--cluster`; needed where the cluster's name is generated. Default: the cluster's name. */
  readonly name?: string;
  /** `hold`, or `observe`: everything is decided and recorded, and no node is changed. Default: hold. */
  readonly mode?: Settings["mode"];
  /** `auto`: a node goes when that pays; or how long each launch protects the nodes of its scope (1m to 24h). Default: auto. */
  readonly hold?: HolderDuration | "auto";
  /** With `hold=auto`: what launching a node again costs, in time of that node (1m to 24h). Default: 2m. */
  readonly relaunchCost?: HolderDuration;
  /** With `hold=auto`: what evicting a pod costs, in time of its node (to 24h). Default: 3m. */
  readonly evictionCost?: HolderDuration;
  /** With `hold=auto`: how long after the last launch all nodes are released, those with Jobs when done; else: how long launches hold without a break, `0s` for no cap (1m to 168h). Default: 2h. */
  readonly maxHold?: HolderDuration;
  /** With a constant `hold`: after `maxHold`, launches hold nothing for this long, so that Karpenter can consolidate (1m to 24h). Default: 10m. */
  readonly breather?: HolderDuration;
  /** The longest hold that a person or an event may ask for; a longer one is refused (1m to 2160h). Default: 24h. */
  readonly maxRequest?: HolderDuration;
  /** Wait before acting on a launch (to 15m). Default: 0s. */
  readonly initialDelay?: HolderDuration;
  /** `cluster`: one hold for all; `nodepool`: a launch protects its own NodePool only. Default: cluster. */
  readonly scope?: Settings["scope"];
  /** Names to include, or `!name` to leave out. Default: all. */
  readonly nodePools?: readonly string[];
  /** How long launches still hold a node after it drifted; `0s`: until the next pass, with a constant `hold` within `sweepEvery` (to 168h). Default: 0s. */
  readonly driftWait?: HolderDuration;
  /** `v1` (v0.32 and later) or `v0.31`, whose annotation delays consolidation only. Default: v1. */
  readonly karpenter?: Settings["karpenter"];
  /** Another annotation key. Default: by `karpenter`. */
  readonly holdAnnotation?: string;
  /** How often a sweep compares record, nodes and clock (1m to 1h). Default: 5m. */
  readonly sweepEvery?: HolderDuration;
  /** `true`: an Event on each node that is held, let go or released, for `kubectl describe node`. Default: false. */
  readonly nodeEvents?: boolean;
  /** Windows in which nodes are held, like `cron(0 8 ? * MON-FRI *) Europe/Berlin 2h`. Default: none. */
  readonly holdDuring?: string;
  /** `true`: send an event to the default event bus when a hold starts, is extended, reaches its cap or ends. Default: false. */
  readonly events?: boolean;
  /** `install` or `manual`: who installs the rights in the cluster. Default: install. */
  readonly access?: Access;
  /** Subnets and security groups, for clusters with a private endpoint: their ids, or a VPC of the CDK. Default: none. */
  readonly vpc?: HolderVpc;
  /** SNS topic that receives every alarm. Default: none. */
  readonly alarmTopic?: ITopic;
  /** `notify`: every alarm needs an action, like a topic; `none`: alarms notify no one. Default: notify. */
  readonly alarms?: Values<typeof deploymentSettings>["alarms"];
  /** `full`; `alarms`: no dashboard, and the metrics of alarms alone; `none`: logs alone. Default: full. */
  readonly monitoring?: Values<typeof deploymentSettings>["monitoring"];
  /** Permissions boundary of every role. Default: none. */
  readonly permissionsBoundaryArn?: string;
  /** Path of every role. Default: none. */
  readonly rolePath?: string;
  /** KMS key of table, queues and logs. Default: AWS's own. */
  readonly kmsKeyArn?: string;
  /** Where your people read the runbook; alarms link to it. Default: none. */
  readonly runbookUrl?: string;
  /** How long CloudWatch keeps logs; `9999` for ever. Default: 30. */
  readonly logRetentionDays?: RetentionDays;
  /** `true`: reserve one concurrent execution, so that two sweeps never run at once. Default: false. */
  readonly reserveConcurrency?: boolean;
}
