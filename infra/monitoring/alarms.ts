import { Annotations, Aspects, Duration, Stack } from "aws-cdk-lib";
import {
  Alarm,
  CfnAlarm,
  ComparisonOperator,
  type IAlarmAction,
  type IMetric,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct, type IConstruct } from "constructs";
import { minutes } from "../../lambda/core/duration.ts";
import type { Settings } from "../../lambda/settings.ts";
import { type AlarmHeading, alarmName } from "../names.ts";
import { settingsTable } from "../settings/deployment.ts";
import type { Plan } from "../settings/plan.ts";
import type { MetricOf } from "./metrics.ts";
import { refuseUnusableTopics } from "./topic-key.ts";

export type WatchedParts = Readonly<{
  name: string;
  settings: Settings;
  /** `none`: without any alarm. */
  monitoring: Plan["monitoring"];
  /** Where docs/operating.md is read. */
  runbookUrl: string;
  /** Their periods are long enough to contain a sweep. */
  metric: MetricOf;
  /** Each by the name under which its alarm is known. */
  functions: Readonly<Record<string, IFunction>>;
  deadLetters: Readonly<Record<string, IQueue>>;
  sweepTimer: IConstruct;
}>;

const topicArn = settingsTable.alarmTopicArn.value.example;
const silentAlarms =
  "The alarms notify no one. Add a topic: " +
  `alarmTopic: Topic.fromTopicArn(this, "Ops", "${topicArn}") (with the command line: -c alarmTopicArn=${topicArn}), ` +
  'or accept that no one is notified: alarms: "none" (-c alarms=none)';

type Watch = Readonly<{
  /** The heading in docs/operating.md, and the alarm's name. */
  heading: AlarmHeading;
  /** Which of several things under that heading. */
  of?: string;
  description: string;
  metric: IMetric;
  threshold: number;
  comparison?: ComparisonOperator;
  /** How many periods in a row must be bad. */
  periods: number;
  missing?: TreatMissingData;
  /** What must be there before the alarm. */
  after?: IConstruct;
  /** Only where it costs money or protection until an operator acts; a ticket is enough for the others. */
  severity?: "page";
  /** The first command to type, unless that is `doctor`. */
  first?: "status";
}>;

/** All alarms; each links to its entry in docs/operating.md. */
export class Alarms extends Construct {
  readonly all: readonly Alarm[];

  constructor(scope: Construct, id: string, parts: WatchedParts) {
    super(scope, id);
    const wanted = parts.monitoring === "none" ? [] : watches(parts);
    this.all = wanted.map((watch) => this.alarm(parts, watch));
    refuseUnusableTopics(this, this.all);
  }

  /** Adds this action to every alarm, for ALARM and for OK. */
  notify(action: IAlarmAction): void {
    for (const alarm of this.all) {
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
    }
  }

  /**
   * Alarms without an action are an error of the synthesis, with the lines to add. An annotation, because it stops a
   * deployment, and lets a destroy go on; at the end, because an app may add actions until then.
   */
  requireActions(holder: IConstruct): void {
    const isSilent = ({ node }: Alarm) =>
      node.defaultChild instanceof CfnAlarm &&
      !Stack.of(this).resolve(node.defaultChild.alarmActions)?.length;
    const visit = (node: IConstruct) => {
      if (node === holder && this.all.some(isSilent)) Annotations.of(holder).addError(silentAlarms);
    };
    Aspects.of(holder).add({ visit });
  }

  private alarm({ name: holder, runbookUrl }: WatchedParts, watch: Watch): Alarm {
    const { severity = "ticket", first = "doctor" } = watch;
    const name = watch.of ? `${watch.heading}-${watch.of}` : watch.heading;
    const id = name.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const alarm = new Alarm(this, id, {
      alarmName: alarmName(holder, name),
      alarmDescription:
        `[${severity}] ${watch.description} First: npx karpenter-node-holder ${first} --cluster ${holder}. ` +
        `See ${runbookUrl}#${watch.heading}`,
      metric: watch.metric,
      threshold: watch.threshold,
      comparisonOperator: watch.comparison ?? ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: watch.periods,
      treatMissingData: watch.missing ?? TreatMissingData.NOT_BREACHING,
    });
    if (watch.after) alarm.node.addDependency(watch.after);
    return alarm;
  }
}

/*
Every minute CloudWatch evaluates periods that end now, so the same events may fall into different periods. An alarm
that counts within one long period does not flap; several periods in a row are for what each period finds anew.
*/
function watches({ settings, metric, functions, deadLetters, sweepTimer }: WatchedParts): readonly Watch[] {
  const { sweepEvery, initialDelay, maxHold } = settings;
  const always: Watch[] = [
    ...Object.entries(deadLetters).map(
      ([of, queue]): Watch => ({
        heading: "dead-letters",
        of,
        description: `Some ${of} failed after all retries.`,
        metric: queue.metricApproximateNumberOfMessagesVisible({
          period: Duration.minutes(5),
          statistic: "Maximum",
        }),
        // None is normal: a message comes here only after all of its retries.
        threshold: 0,
        periods: 1,
      }),
    ),
    ...Object.entries(functions).map(
      ([of, fn]): Watch => ({
        heading: "function-errors",
        of,
        description: `The ${of} function keeps failing.`,
        metric: fn.metricErrors({ period: longEnoughForThree(of === "sweep" ? sweepEvery : 0) }),
        // One error, and a second, are retried; a third shows that retries do not help.
        threshold: 2,
        periods: 1,
      }),
    ),
    {
      heading: "release-overdue",
      severity: "page",
      description: "Nodes are held longer than their hold.",
      metric: metric("ReleaseLagMs", "Maximum"),
      // A one-shot may fire a minute late, and the next sweep replaces a lost one: this is later than both.
      threshold: 2 * sweepEvery + minutes(2),
      periods: 1,
    },
    {
      heading: "marks-orphaned",
      description: "Nodes carry marks of ended holds, and the sweep cannot remove them.",
      metric: metric("OrphansFound", "Sum"),
      // The sweep that finds an orphan removes it; found three times, it does not.
      threshold: 0,
      periods: 3,
    },
    {
      heading: "patches-failing",
      description: "Some nodes can be neither marked nor released.",
      metric: metric("NodePatchFailures", "Sum"),
      // One node's failure fails no function: the next pass retries, and three times in a row that did not help.
      threshold: 0,
      periods: 3,
    },
    {
      heading: "rights-missing",
      description: "The cluster has not given the holder all of its rights.",
      metric: metric("RightsMissing", "Sum"),
      // Every pass finds it anew; a deployment may give the rights some minutes after the functions.
      threshold: 0,
      periods: 3,
    },
    {
      heading: "sweep-silent",
      severity: "page",
      description: "The sweep, which repairs what lost events left, does not run to its end.",
      metric: metric("HoldActive", "SampleCount"),
      // Every sweep emits HoldActive, so a period without data means that no sweep ended. So does the installation of
      // the rights in the cluster, after which the timer is created: a new deployment sets off no alarm.
      threshold: 1,
      comparison: ComparisonOperator.LESS_THAN_THRESHOLD,
      periods: 2,
      missing: TreatMissingData.BREACHING,
      after: sweepTimer,
    },
    {
      heading: "slow-protection",
      description: "Launches protect the cluster later than they should.",
      // Only a launch that starts a hold emits this, so an hour has few values.
      metric: metric("LaunchToProtectedMs", "p50").with({ period: Duration.hours(1) }),
      // Bus, queue and function take seconds; Karpenter may check a node again after 15 s. A minute is late.
      threshold: initialDelay + minutes(1),
      periods: 1,
    },
  ];
  if (maxHold === 0) return always;
  const overCap: Watch = {
    heading: "hold-over-cap",
    severity: "page",
    first: "status",
    description: "Launches hold nodes for longer than maxHold allows.",
    metric: metric("OldestHoldMs", "Maximum"),
    // As much later than the cap as a release may be.
    threshold: maxHold + 2 * sweepEvery + minutes(2),
    // The first sweep after a deployment with a shorter maxHold measures what it is about to end.
    periods: 2,
  };
  return [...always, overCap];
}

/** Long enough for three tries: a launch is delivered again after twelve minutes, and a sweep's next try is the next sweep. */
const longEnoughForThree = (every: number): Duration =>
  Duration.minutes(Math.max(30, Math.ceil((2 * every) / minutes(1)) + 5));
