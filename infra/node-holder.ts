import { CfnOutput, Duration, Stack } from "aws-cdk-lib";
import type { Alarm, IAlarmAction, Metric } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { Connections, type IConnectable } from "aws-cdk-lib/aws-ec2";
import type { Grant, IGrantable, IRole } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { minutes } from "../lambda/core/duration.ts";
import { holderName } from "../lambda/core/marks/keys.ts";
import type { MetricName } from "../lambda/core/metrics.ts";
import { scheduleAlias } from "../lambda/environment.ts";
import { ClusterAccess } from "./access/cluster-access.ts";
import { acknowledgeWildcard } from "./acknowledge.ts";
import { environmentOf } from "./functions/environment.ts";
import { functionArn } from "./functions/function-arn.ts";
import { HolderFunctions, holdTimeout } from "./functions/functions.ts";
import type { HolderFunction } from "./functions/holder-function.ts";
import { Alarms } from "./monitoring/alarms.ts";
import { HolderDashboard } from "./monitoring/dashboard.ts";
import { type MetricOf, metricsOf } from "./monitoring/metrics.ts";
import { networkOf } from "./network.ts";
import { dashboardUrl } from "./partition.ts";
import type { KarpenterNodeHolderProps } from "./props.ts";
import { HoldTable } from "./resources/hold-table.ts";
import {
  type HoldDuring,
  type HoldDuringProps,
  type HoldOn,
  type HoldOnProps,
  holdInWindows,
  Triggers,
} from "./resources/hold-trigger.ts";
import { LaunchQueue } from "./resources/launch-queue.ts";
import { ReleaseSchedules } from "./resources/release-schedules.ts";
import { SweepTimer } from "./resources/sweep-timer.ts";
import { restrict } from "./restricted.ts";
import { refuseSecondHolder } from "./settings/one-holder.ts";
import { type Plan, planOf } from "./settings/plan.ts";

/** Keeps Karpenter's nodes of one EKS cluster for a while after every launch. */
export class KarpenterNodeHolder extends Construct implements IConnectable {
  /** Name of the cluster; of a cluster of the same app a reference. */
  readonly cluster: string;
  /** What the holder's resources are called after, and what commands take as `--cluster`. */
  readonly name: string;
  /** Every alarm, for those who want to route them one by one. */
  readonly alarms: readonly Alarm[];
  /** Name of the CloudWatch dashboard; only with `monitoring: "full"`. */
  readonly dashboardName: string | undefined;
  /** Handles launches. */
  readonly holdFunction: IFunction;
  /** Releases nodes when a hold is over. */
  readonly releaseFunction: IFunction;
  /** Compares record, nodes and clock, and repairs what lost events left. */
  readonly sweepFunction: IFunction;
  /** Answers operators. */
  readonly controlFunction: IFunction;
  /** Where EventBridge sends launches and other events. */
  readonly launchQueue: IQueue;
  /** Where launches, events and invocations end that could not be handled. */
  readonly deadLetterQueues: readonly IQueue[];
  /** Name of the table of holds, present and past. */
  readonly tableName: string;
  /** The security groups of the functions, with `vpc`: what the cluster must let in on port 443. */
  readonly connections: Connections;
  /** What a shell must run to release every held node at once. */
  readonly forceReleaseCommand: string;
  /** With `access: "manual"`, the roles that need an access entry in group karpenter-node-holder. */
  readonly rolesToAdmit: readonly IRole[];
  private readonly metricOf: MetricOf;
  private readonly watch: Alarms;
  private readonly triggers: Triggers;

  constructor(scope: Construct, id: string, props: KarpenterNodeHolderProps) {
    super(scope, id);
    const checked = planOf(this, props);
    const { name, settings } = checked;
    const { cluster, sweepEvery } = settings;
    this.cluster = cluster;
    this.name = name;
    refuseSecondHolder(this, (one) => one instanceof KarpenterNodeHolder);
    const network = props.vpc && networkOf(this, props.vpc);
    this.connections = new Connections({ securityGroups: [...(network?.securityGroups ?? [])] });
    const plan: Plan = { ...checked, vpc: network?.ids };

    const table = new HoldTable(this, `Holds-${name}`);
    const launches = new LaunchQueue(this, "Launches", { name, consumerTimeout: holdTimeout });
    const releaseFunctionArn = `${functionArn(this, name, "release")}:${scheduleAlias}`;
    const schedules = new ReleaseSchedules(this, "Releases", { name, releaseFunctionArn });
    const environment = environmentOf(plan, { table, launches, schedules, releaseFunctionArn });
    const functions = new HolderFunctions(this, "Functions", { plan, environment });
    // Its id contains the name, that of the cluster unless it has its own: for another one all of it is created anew, and
    // the old part cleans up the old cluster. With a name of its own the same part changes to the new cluster.
    const access = new ClusterAccess(this, `Access-${name}`, plan);
    if (network) access.needs(network.path);
    const { hold, release, sweep, control } = functions;

    for (const fn of functions.all) {
      table.openTo(fn);
      schedules.openTo(fn);
      access.openTo(fn);
      launches.openTo(fn);
      if (plan.events) letSendEvents(fn);
    }
    for (const fn of [hold, sweep, control]) letSeeInstances(fn);
    access.surrounds(launches.feed(hold));
    access.surrounds(launches.rule);
    const sweepTimer = new SweepTimer(this, "SweepTimer", { every: Duration.millis(sweepEvery), sweep });
    access.surrounds(sweepTimer);

    this.holdFunction = hold.fn;
    this.releaseFunction = release.fn;
    this.sweepFunction = sweep.fn;
    this.controlFunction = control.fn;
    this.launchQueue = launches.queue;
    this.deadLetterQueues = [launches.deadLetters, launches.undelivered, functions.failures];
    this.tableName = table.name;
    this.forceReleaseCommand = forceRelease(release.fn);
    this.rolesToAdmit = plan.access === "manual" ? functions.all.map(({ role }) => role) : [];

    this.metricOf = metricsOf(cluster, periodWithASweep(plan));
    this.watch = new Alarms(this, "Alarms", {
      name,
      settings: plan.settings,
      monitoring: plan.monitoring,
      runbookUrl: plan.runbookUrl,
      metric: this.metricOf,
      functions: { hold: hold.fn, release: release.fn, sweep: sweep.fn, control: control.fn },
      deadLetters: {
        launches: launches.deadLetters,
        events: launches.undelivered,
        invocations: functions.failures,
      },
      sweepTimer,
    });
    this.alarms = this.watch.all;
    if (plan.alarms === "notify") this.watch.requireActions(this);
    if (props.alarmTopic) this.addAlarmAction(new SnsAction(props.alarmTopic));
    const shown = { name, metric: this.metricOf, alarms: this.alarms };
    if (plan.monitoring === "full") this.dashboardName = new HolderDashboard(this, "Dashboard", shown).name;

    const triggerParts = { launches, settings: plan.settings, kmsKeyArn: plan.kmsKeyArn };
    this.triggers = new Triggers(this, "Triggers", triggerParts);
    holdInWindows(this, triggerParts, plan.windows);
    restrict(this, functions.all, plan);
  }

  /** Grants the use of the control function: `status`, `history`, `hold`, `release`, `pause`, `resume`. */
  grantInvokeControl(grantee: IGrantable): Grant {
    return this.controlFunction.grantInvoke(grantee);
  }

  /** Grants forced releases only. */
  grantInvokeRelease(grantee: IGrantable): Grant {
    return this.releaseFunction.grantInvoke(grantee);
  }

  /** Adds outputs for operators: names of functions, queues, dashboard, the forced release. */
  addOutputs(scope: Construct = new Construct(this, "Outputs")): void {
    const output = (id: string, description: string, value: string) =>
      new CfnOutput(scope, id, { description, value });
    output("HoldFunction", "Handles launches", this.holdFunction.functionName);
    output("ReleaseFunction", "Releases nodes when a hold is over", this.releaseFunction.functionName);
    const sweeps = "Compares record, nodes and clock, and repairs what lost events left";
    output("SweepFunction", sweeps, this.sweepFunction.functionName);
    output("ControlFunction", "Answers operators", this.controlFunction.functionName);
    output("LaunchQueueUrl", "Queue of launches", this.launchQueue.queueUrl);
    const deadLetters = this.deadLetterQueues.map((queue) => queue.queueUrl).join(" ");
    output("DeadLetterQueueUrls", "Dead-letter queues: launches, events, invocations", deadLetters);
    output("HoldTable", "Holds, present and past", this.tableName);
    if (this.dashboardName) {
      const url = dashboardUrl(scope, this.dashboardName);
      output("Dashboard", "Launches, holds and nodes at a glance", url);
    }
    output("ForceRelease", "Releases every held node at once", this.forceReleaseCommand);
    if (this.rolesToAdmit.length === 0) return;
    const roles = this.rolesToAdmit.map(({ roleArn }) => roleArn).join(" ");
    output("RolesToAdmit", "Give each an access entry in group karpenter-node-holder", roles);
  }

  /** Adds this action to every alarm. */
  addAlarmAction(action: IAlarmAction): void {
    this.watch.notify(action);
  }

  /** Holds for a while after each event that matches, like a deployment's start; each event to its own end. */
  holdOn(id: string, props: HoldOnProps): HoldOn {
    return this.triggers.holdOn(id, props);
  }

  /** Holds for a while from each time of a schedule on, like office hours; each window to its own end. */
  holdDuring(id: string, props: HoldDuringProps): HoldDuring {
    return this.triggers.holdDuring(id, props);
  }

  /** Any of the holder's own metrics. */
  metric(name: MetricName, statistic: string): Metric {
    return this.metricOf(name, statistic);
  }

  /** How many nodes are held now. */
  metricNodesHeld(): Metric {
    return this.metric("NodesHeldNow", "Maximum");
  }

  /** How many holds are active now. */
  metricHoldsActive(): Metric {
    return this.metric("HoldActive", "Maximum");
  }

  /** The time from the launch that began a hold until every existing node was marked. */
  metricLaunchToProtected(): Metric {
    return this.metric("LaunchToProtectedMs", "p90");
  }

  /** How late nodes were released. */
  metricReleaseLag(): Metric {
    return this.metric("ReleaseLagMs", "Maximum");
  }
}

const forceRelease = ({ functionName }: IFunction): string =>
  `echo '{"force":true,"reason":"why"}' | ` +
  `aws lambda invoke --cli-read-timeout 0 --function-name ${functionName} --payload fileb:///dev/stdin /dev/stdout`;

function letSeeInstances(fn: HolderFunction): void {
  fn.may({ actions: ["ec2:DescribeInstances"], resources: ["*"] });
  acknowledgeWildcard(fn.role, "*", "ec2:DescribeInstances, which reads only, has no narrower resource");
}

/** To the default event bus, and in the holder's own name only. */
function letSendEvents(fn: HolderFunction): void {
  const bus = { service: "events", resource: "event-bus", resourceName: "default" };
  fn.may({
    actions: ["events:PutEvents"],
    resources: [Stack.of(fn).formatArn(bus)],
    conditions: { StringEquals: { "events:source": holderName } },
  });
}

// A sweep's metrics are missing in a period without a sweep, and a timer may be a minute late.
function periodWithASweep({ settings }: Plan): Duration {
  const grain = minutes(5);
  return Duration.millis(Math.ceil((settings.sweepEvery + minutes(1)) / grain) * grain);
}
