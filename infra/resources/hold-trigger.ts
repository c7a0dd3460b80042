import { ArnFormat, Duration, Stack } from "aws-cdk-lib";
import { EventField, type EventPattern, RuleTargetInput } from "aws-cdk-lib/aws-events";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { CfnSchedule } from "aws-cdk-lib/aws-scheduler";
import { Construct } from "constructs";
import { formatDuration, parseDuration } from "../../lambda/core/duration.ts";
import type { Settings } from "../../lambda/settings.ts";
import { fingerprint } from "../names.ts";
import type { HolderDuration } from "../props.ts";
import { mayUseKey } from "../restricted.ts";
import { isDuration, unknownProps } from "../settings/check-props.ts";
import { unusable } from "../settings/plan.ts";
import {
  holdMessage,
  nameOfWindow,
  problemsOfName,
  problemsOfTrigger,
  problemsOfWindow,
  type Trigger,
  type Window,
  windowMessage,
} from "../settings/windows.ts";
import type { LaunchQueue } from "./launch-queue.ts";

type TriggerProps = Readonly<{
  /** How long each event or window holds, counted from its own time; an event at most `maxRequest`. */
  for: HolderDuration;
  /** The name of the request, which `status` and `history` show and `release --name` takes. Default: the id of the construct. */
  name?: string;
  /** What to hold, needed with `scope: "nodepool"`: "nodepool/NAME". Default: the whole cluster. */
  scope?: string;
}>;

const ofEach = ["for", "name", "scope"] as const satisfies (keyof TriggerProps)[];

/** Events that start or extend a hold. */
export type HoldOnProps = TriggerProps &
  Readonly<{
    /** Which events, on the default bus of the account. */
    eventPattern: EventPattern;
  }>;

/** Times at which a hold starts. */
export type HoldDuringProps = TriggerProps &
  Readonly<{
    /** As EventBridge Scheduler has it, like "cron(0 8 ? * MON-FRI *)". */
    schedule: string;
    /** Like "Europe/Berlin". Default: UTC. */
    timeZone?: string;
  }>;

/** Triggers go the way of launches, so that they are delivered again, counted by alarms, and limited in number. */
type TriggerParts = Readonly<{ launches: LaunchQueue; settings: Settings; kmsKeyArn: string }>;

/** The policies of the queues name every rule, and SQS takes policies of 8,192 bytes. */
const mostHoldOns = 60;

/** What an app adds under ids of its own, apart from those of the holder's parts. */
export class Triggers extends Construct {
  private readonly parts: TriggerParts;

  constructor(scope: Construct, id: string, parts: TriggerParts) {
    super(scope, id);
    this.parts = parts;
  }

  holdOn(id: string, props: HoldOnProps): HoldOn {
    this.refuseSecond(id);
    const isFull = this.node.children.filter((one) => one instanceof HoldOn).length >= mostHoldOns;
    const problem = `there are ${mostHoldOns} holdOn already, and the queue's policy has no room for more`;
    refuse(this, isFull ? [problem] : []);
    return new HoldOn(this, id, this.parts, props);
  }

  holdDuring(id: string, props: HoldDuringProps): HoldDuring {
    this.refuseSecond(id);
    return new HoldDuring(this, id, this.parts, props);
  }

  private refuseSecond(id: string): void {
    const isTaken = this.node.tryFindChild(id) !== undefined;
    refuse(this, isTaken ? [`another holdOn or holdDuring has the id ${id}: give each its own`] : []);
  }
}

/** Holds for a while after each event that matches. */
export class HoldOn extends Construct {
  constructor(scope: Construct, id: string, { launches, settings }: TriggerParts, props: HoldOnProps) {
    super(scope, id);
    const trigger = triggerOf(props);
    const noEvent = isEmpty(props.eventPattern) ? ["eventPattern must name an event: it is empty"] : [];
    const unknown = unknownProps(props, [...ofEach, "eventPattern"] satisfies (keyof HoldOnProps)[]);
    refuse(this, [...unknown, ...noEvent, ...problemsOfTrigger(trigger, settings)]);
    const name = nameOf(this, id, props);
    const reported = { cause: "event", name, id: EventField.eventId, at: EventField.time } as const;
    launches.fillBy(this, "Rule", {
      // An id may be of any length, and of any characters.
      what: `event-${fingerprint(id)}`,
      description: `Holds Karpenter's nodes for ${trigger.for} after each event`,
      eventPattern: props.eventPattern,
      message: RuleTargetInput.fromObject(holdMessage(reported, trigger)),
    });
  }
}

/** Holds for a while from each time of a schedule on. */
export class HoldDuring extends Construct {
  constructor(scope: Construct, id: string, parts: TriggerParts, props: HoldDuringProps) {
    super(scope, id);
    const { launches, settings, kmsKeyArn } = parts;
    const { schedule, timeZone = "UTC" } = props;
    const name = nameOf(this, id, props);
    const window: Window = { ...triggerOf(props), schedule: String(schedule), timeZone: String(timeZone) };
    const known = [...ofEach, "schedule", "timeZone"] satisfies (keyof HoldDuringProps)[];
    refuse(this, [...unknownProps(props, known), ...problemsOfWindow(window, settings)]);
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
    const { queue, undelivered } = launches;
    for (const target of [queue, undelivered]) target.grant(role, "sqs:SendMessage");
    if (kmsKeyArn) mayUseKey(role, kmsKeyArn);
    const asks = new CfnSchedule(this, "Schedule", {
      description: "Holds Karpenter's nodes for a while each time",
      scheduleExpression: schedule,
      scheduleExpressionTimezone: timeZone,
      flexibleTimeWindow: { mode: "OFF" },
      target: {
        arn: queue.queueArn,
        roleArn: role.roleArn,
        input: windowMessage(window, name),
        deadLetterConfig: { arn: undelivered.queueArn },
      },
    });
    asks.node.addDependency(role);
  }
}

/** Holds in the windows of the setting. */
export function holdInWindows(holder: Construct, parts: TriggerParts, windows: readonly Window[]): void {
  for (const [i, window] of windows.entries()) {
    const { scope, for: length, ...when } = window;
    const what = { name: nameOfWindow(window), for: Duration.millis(parseDuration(length) ?? 0) };
    new HoldDuring(holder, `HoldDuring${i + 1}`, parts, { ...when, ...what, ...(scope && { scope }) });
  }
}

/** From an app without types too. */
const triggerOf = ({ for: length, scope }: TriggerProps): Trigger => ({
  for: isDuration(length) ? formatDuration(length.toMilliseconds()) : String(length ?? ""),
  scope: scope === undefined ? undefined : String(scope),
});

/** A pattern that would match every event, or that the CDK renders as nothing. */
const isEmpty = (pattern: unknown): boolean =>
  typeof pattern === "object" && pattern !== null
    ? Object.values(pattern).every(isEmpty)
    : pattern === undefined || pattern === null;

function nameOf(trigger: Construct, id: string, { name = id }: TriggerProps): string {
  refuse(trigger, problemsOfName(name));
  return name;
}

function refuse(trigger: Construct, problems: readonly string[]): void {
  if (problems.length > 0) throw unusable(problems, trigger);
}
