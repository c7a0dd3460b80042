import { ArnFormat, type Duration, Stack } from "aws-cdk-lib";
import { EventField, type EventPattern, Rule, RuleTargetInput } from "aws-cdk-lib/aws-events";
import { LambdaFunction as FunctionTarget } from "aws-cdk-lib/aws-events-targets";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { CfnSchedule } from "aws-cdk-lib/aws-scheduler";
import { type IQueue, Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { formatDuration, hours, minutes } from "../../lambda/core/duration.ts";
import { parseScope } from "../../lambda/core/scope.ts";
import { acknowledge } from "../acknowledge.ts";
import { isDuration } from "../settings/check-props.ts";
import { unusable } from "../settings/plan.ts";

type Trigger = Readonly<{
  /** How long each event or window holds, counted from its own time; never past `maxHold`. */
  for: Duration;
  /** Shown by `status` and `history` (the id of the construct). */
  reason?: string;
  /** What to hold, needed with `scope: "nodepool"`: "nodepool/NAME" (the whole cluster). */
  scope?: string;
}>;

/** Events that start or extend a hold. */
export type HoldOnProps = Trigger & Readonly<{ eventPattern: EventPattern }>;

/** Times at which a hold starts. */
export type HoldDuringProps = Trigger &
  Readonly<{
    /** As EventBridge Scheduler has it, like "cron(0 8 ? * MON-FRI *)". */
    schedule: string;
    /** Like "Europe/Berlin" (UTC). */
    timeZone?: string;
  }>;

/** Invokes control for an event or at a time; what cannot be delivered goes to its own dead-letter queue. */
abstract class HoldTrigger extends Construct {
  readonly deadLetters: IQueue;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.deadLetters = new Queue(this, "DeadLetters", {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
    acknowledge(this.deadLetters, {
      "AwsSolutions-SQS3": "it is where events end that could not be delivered; nothing consumes it",
    });
  }

  /** The request to control; with the event's id and time a second delivery changes nothing. */
  protected request(
    trigger: Trigger,
    cause: "event" | "window",
    reported: Readonly<{ id: string; at: string }>,
  ) {
    const { for: length, reason = this.node.id, scope } = trigger;
    const millis = isDuration(length) ? length.toMilliseconds() : 0;
    const problems = [
      ...(millis >= minutes(1) && millis <= hours(24)
        ? []
        : ["for must be a Duration from 1m to 24h, like Duration.minutes(30)"]),
      ...(scope === undefined || parseScope(scope) ? [] : ['scope must be "cluster" or "nodepool/NAME"']),
    ];
    if (problems.length > 0) throw unusable(problems.map((problem) => `${this.node.id}: ${problem}`));
    return {
      do: "hold",
      for: formatDuration(millis),
      reason: `${reason} (${reported.id})`,
      cause,
      at: reported.at,
      ...(scope && { scope }),
    };
  }
}

/** Holds for a while after each event that matches. */
export class HoldOn extends HoldTrigger {
  constructor(scope: Construct, id: string, control: IFunction, props: HoldOnProps) {
    super(scope, id);
    const event = this.request(props, "event", { id: EventField.eventId, at: EventField.time });
    new Rule(this, "Rule", {
      description: `Holds Karpenter's nodes for ${event.for} after each event`,
      eventPattern: props.eventPattern,
      targets: [
        new FunctionTarget(control, {
          event: RuleTargetInput.fromObject(event),
          deadLetterQueue: this.deadLetters,
          // The hold is counted from the event's time: delivered after its end, nothing is left to hold.
          maxEventAge: props.for,
        }),
      ],
    });
  }
}

/** Holds for a while from each time of a schedule on. */
export class HoldDuring extends HoldTrigger {
  constructor(scope: Construct, id: string, control: IFunction, props: HoldDuringProps) {
    super(scope, id);
    const { schedule, timeZone = "UTC" } = props;
    const { account } = Stack.of(this);
    const schedules = Stack.of(this).formatArn({
      service: "scheduler",
      resource: "schedule-group",
      resourceName: "default",
      arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
    });
    const role = new Role(this, "Role", {
      description: "Lets a schedule ask for a hold",
      assumedBy: new ServicePrincipal("scheduler.amazonaws.com", {
        conditions: { StringEquals: { "aws:SourceArn": schedules, "aws:SourceAccount": account } },
      }),
    });
    role.addToPolicy(
      new PolicyStatement({ actions: ["lambda:InvokeFunction"], resources: [control.functionArn] }),
    );
    role.addToPolicy(
      new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [this.deadLetters.queueArn] }),
    );
    const reported = { id: "<aws.scheduler.execution-id>", at: "<aws.scheduler.scheduled-time>" };
    const window = new CfnSchedule(this, "Schedule", {
      description: `Holds Karpenter's nodes for ${formatDuration(props.for.toMilliseconds())} each time`,
      scheduleExpression: schedule,
      scheduleExpressionTimezone: timeZone,
      flexibleTimeWindow: { mode: "OFF" },
      target: {
        arn: control.functionArn,
        roleArn: role.roleArn,
        input: JSON.stringify(this.request(props, "window", reported)),
        deadLetterConfig: { arn: this.deadLetters.queueArn },
        retryPolicy: { maximumEventAgeInSeconds: Math.max(60, props.for.toSeconds()) },
      },
    });
    window.node.addDependency(role);
  }
}
