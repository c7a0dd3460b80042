import { Duration } from "aws-cdk-lib";
import type { Alarm, IAlarmAction, Metric } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { minutes } from "../lambda/core/duration.ts";
import type { MetricName } from "../lambda/core/metrics.ts";
import { acknowledgeWildcard } from "./acknowledge.ts";
import { Alarms } from "./alarms.ts";
import { ClusterAccess } from "./cluster-access.ts";
import { HolderDashboard } from "./dashboard.ts";
import { environmentOf } from "./environment.ts";
import { functionArn } from "./function-arn.ts";
import { HolderFunctions, holdTimeout } from "./functions.ts";
import { HoldTable } from "./hold-table.ts";
import { HoldDuring, type HoldDuringProps, HoldOn, type HoldOnProps } from "./hold-trigger.ts";
import type { HolderFunction } from "./holder-function.ts";
import { LaunchQueue } from "./launch-queue.ts";
import { HolderMetrics } from "./metrics.ts";
import { refuseSecondHolder } from "./one-holder.ts";
import { type KarpenterNodeHolderProps, type Plan, planOf } from "./props.ts";
import { ReleaseSchedules } from "./release-schedules.ts";
import { SweepTimer } from "./sweep-timer.ts";

/** Keeps Karpenter's nodes of one EKS cluster for a while after every launch. */
export class KarpenterNodeHolder extends Construct {
  readonly cluster: string;
  /** Every alarm, for those who want to route them one by one. */
  readonly alarms: readonly Alarm[];
  readonly dashboardName: string;
  readonly holdFunction: IFunction;
  readonly releaseFunction: IFunction;
  readonly sweepFunction: IFunction;
  readonly controlFunction: IFunction;
  readonly launchQueue: IQueue;
  /** Where launches, events and invocations end that could not be handled. */
  readonly deadLetterQueues: readonly IQueue[];
  readonly tableName: string;
  private readonly metrics: HolderMetrics;
  private readonly watch: Alarms;

  constructor(scope: Construct, id: string, props: KarpenterNodeHolderProps) {
    super(scope, id);
    const plan = planOf(props);
    const { cluster, sweepEvery } = plan.settings;
    this.cluster = cluster;
    refuseSecondHolder(this, (one) => one instanceof KarpenterNodeHolder);

    const table = new HoldTable(this, `Holds-${cluster}`);
    const launches = new LaunchQueue(this, "Launches", { cluster, consumerTimeout: holdTimeout });
    const releaseFunctionArn = functionArn(this, cluster, "release");
    const schedules = new ReleaseSchedules(this, "Releases", { cluster, releaseFunctionArn });
    const environment = environmentOf(plan.settings, { table, launches, schedules, releaseFunctionArn });
    const functions = new HolderFunctions(this, "Functions", { plan, environment });
    // Named for its cluster: for another one all of it is new, and what is old still may tidy up the old one.
    const access = new ClusterAccess(this, `Access-${cluster}`, plan);
    const { hold, release, sweep, control } = functions;

    for (const fn of functions.all) {
      table.openTo(fn);
      schedules.openTo(fn);
      access.openTo(fn);
    }
    for (const fn of [hold, sweep, control]) {
      launches.openTo(fn);
      letSeeInstances(fn);
    }
    access.surrounds(launches.feed(hold));
    access.surrounds(launches.rule);
    access.surrounds(new SweepTimer(this, "SweepTimer", { every: Duration.millis(sweepEvery), sweep }));

    this.holdFunction = hold.fn;
    this.releaseFunction = release.fn;
    this.sweepFunction = sweep.fn;
    this.controlFunction = control.fn;
    this.launchQueue = launches.queue;
    this.deadLetterQueues = [launches.deadLetters, launches.undelivered, functions.failures];
    this.tableName = table.name;

    this.metrics = new HolderMetrics(cluster, periodWithASweep(plan));
    this.watch = new Alarms(this, "Alarms", {
      settings: plan.settings,
      metrics: this.metrics,
      functions: { hold: hold.fn, release: release.fn, sweep: sweep.fn, control: control.fn },
      deadLetters: {
        launches: launches.deadLetters,
        events: launches.undelivered,
        invocations: functions.failures,
      },
    });
    this.alarms = this.watch.all;
    if (props.alarmTopic) this.addAlarmAction(new SnsAction(props.alarmTopic));
    const dashboard = new HolderDashboard(this, "Dashboard", {
      cluster,
      metrics: this.metrics,
      alarms: this.alarms,
      learns: plan.settings.auto !== undefined,
    });
    this.dashboardName = dashboard.name;
  }

  /** Adds this action to every alarm. */
  addAlarmAction(action: IAlarmAction): void {
    this.watch.notify(action);
  }

  /** Holds for a while after each event that matches, like a deployment's start; never past `maxHold`. */
  holdOn(id: string, props: HoldOnProps): HoldOn {
    return new HoldOn(this, id, this.controlFunction, props);
  }

  /** Holds for a while from each time of a schedule on, like office hours; never past `maxHold`. */
  holdDuring(id: string, props: HoldDuringProps): HoldDuring {
    return new HoldDuring(this, id, this.controlFunction, props);
  }

  /** Any of the holder's own metrics. */
  metric(name: MetricName, statistic: string): Metric {
    return this.metrics.metric(name, statistic);
  }

  /** How many nodes are held now. */
  metricNodesHeld(): Metric {
    return this.metric("NodesHeldNow", "Maximum");
  }

  /** How many holds are active now. */
  metricHoldsActive(): Metric {
    return this.metric("HoldActive", "Maximum");
  }

  /** How long the launch that began a hold took until every node there was was marked. */
  metricLaunchToProtected(): Metric {
    return this.metric("LaunchToProtectedMs", "p90");
  }

  /** How much later than due nodes were released. */
  metricReleaseLag(): Metric {
    return this.metric("ReleaseLagMs", "Maximum");
  }
}

function letSeeInstances(fn: HolderFunction): void {
  fn.may({ actions: ["ec2:DescribeInstances"], resources: ["*"] });
  acknowledgeWildcard(fn.role, "*", "ec2:DescribeInstances, which reads only, knows no narrower resource");
}

// A sweep's metrics are missing in a period without a sweep, and a timer may be a minute late.
function periodWithASweep({ settings }: Plan): Duration {
  const grain = minutes(5);
  return Duration.millis(Math.ceil((settings.sweepEvery + minutes(1)) / grain) * grain);
}
