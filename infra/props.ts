import { type Duration, Token } from "aws-cdk-lib";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import { formatDuration } from "../lambda/core/duration.ts";
import { BadInputError } from "../lambda/core/errors.ts";
import type { KarpenterGeneration } from "../lambda/core/marks/keys.ts";
import { checkSettings, type RawSettings, type Settings } from "../lambda/settings.ts";
import { isDuration, problemsOf } from "./check-props.ts";
import { type HolderVpc, type HolderVpcIds, hasIds } from "./network.ts";

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
  /** With `hold: "auto"`, what the idle nodes of a scope may cost in a day, in time of one node (no limit). */
  readonly idleBudget?: Duration;
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
  /** Another annotation than the one Karpenter's generation knows. */
  readonly holdAnnotation?: string;
  /** How often everything is compared from scratch (5 minutes). */
  readonly sweepEvery?: Duration;
  readonly access?: Access;
  /** Where the functions run, for a cluster whose endpoint is private: ids, or a VPC of the CDK (no VPC). */
  readonly vpc?: HolderVpc;
  /** Where your copy of the runbook is; each alarm links to its heading there (docs/runbook.md). */
  readonly runbookUrl?: string;
  /** Receives every alarm. */
  readonly alarmTopic?: ITopic;
  readonly logRetention?: RetentionDays;
  /** Reserve one concurrent execution for the sweep, so that two sweeps never run at once (false). */
  readonly reserveConcurrency?: boolean;
}

/** Everything the construct builds from: settings checked, defaults filled in. */
export type Plan = Readonly<{
  settings: Settings;
  access: Access;
  vpc: HolderVpcIds | undefined;
  runbookUrl: string;
  logRetention: RetentionDays;
  reserveConcurrency: boolean;
}>;

/** Checks what a CDK app gave us; one error names every problem. */
export function planOf(props: KarpenterNodeHolderProps): Omit<Plan, "vpc"> {
  if (Token.isUnresolved(props.cluster)) {
    throw unusable(["cluster must be text known at synth, not a token: give the name itself"]);
  }
  const wrong = problemsOf(props);
  const { settings, problems } = checkSettings(asText(props));
  const { vpc } = props;
  const noVpc =
    vpc &&
    !wrong.has("vpc") &&
    hasIds(vpc) &&
    (vpc.subnetIds.length === 0 || vpc.securityGroupIds.length === 0);
  const all = [
    ...wrong.values(),
    ...problems,
    ...(noVpc ? ["vpc must name at least one subnet and one security group"] : []),
  ];
  if (all.length > 0) throw unusable(all);
  return {
    settings,
    access: props.access ?? "install",
    runbookUrl: props.runbookUrl ?? "docs/runbook.md",
    logRetention: props.logRetention ?? RetentionDays.ONE_MONTH,
    reserveConcurrency: props.reserveConcurrency ?? false,
  };
}

/** One error that names all problems of a deployment's settings. */
export const unusable = (problems: readonly string[]): BadInputError =>
  new BadInputError("These settings cannot be used", problems);

function asText(props: KarpenterNodeHolderProps): RawSettings {
  // One of another kind is a problem of its own, and the rest is checked against the default.
  const text = (duration: Duration | undefined) =>
    isDuration(duration) ? formatDuration(duration.toMilliseconds()) : undefined;
  return {
    ...props,
    hold: props.hold === "auto" ? "auto" : text(props.hold),
    relaunchCost: text(props.relaunchCost),
    idleBudget: text(props.idleBudget),
    maxHold: text(props.maxHold),
    breather: text(props.breather),
    initialDelay: text(props.initialDelay),
    sweepEvery: text(props.sweepEvery),
  };
}
