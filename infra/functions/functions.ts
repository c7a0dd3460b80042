import { Duration } from "aws-cdk-lib";
import { Alias } from "aws-cdk-lib/aws-lambda";
import { SqsDestination } from "aws-cdk-lib/aws-lambda-destinations";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { scheduleAlias } from "../../lambda/environment.ts";
import { acknowledge } from "../acknowledge.ts";
import type { Plan } from "../settings/plan.ts";
import { HolderFunction } from "./holder-function.ts";

/** As long as the hold function may take; the queue waits six times as long. */
export const holdTimeout = Duration.minutes(2);

export type HolderFunctionsProps = Readonly<{ plan: Plan; environment: Readonly<Record<string, string>> }>;

/** The four functions, and the destination of asynchronous invocations that failed. */
export class HolderFunctions extends Construct {
  readonly hold: HolderFunction;
  readonly release: HolderFunction;
  readonly sweep: HolderFunction;
  readonly control: HolderFunction;
  readonly failures: Queue;

  constructor(scope: Construct, id: string, { plan, environment }: HolderFunctionsProps) {
    super(scope, id);
    const { name, settings } = plan;
    const { sweepEvery } = settings;
    this.failures = new Queue(this, "Failures", {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    acknowledge(this.failures, {
      "AwsSolutions-SQS3": "it is where failed invocations end; nothing consumes it",
    });
    const onFailure = new SqsDestination(this.failures);
    const common = { name, environment, logRetention: plan.logRetention, vpc: plan.vpc };

    this.hold = new HolderFunction(this, "Hold", {
      ...common,
      part: "hold",
      description: `Holds Karpenter's nodes of ${name} after a launch`,
      timeout: holdTimeout,
      // It sends itself follow-ups through the queue on purpose; each is about launches or nodes of the last ten minutes.
      invokesItself: true,
    });
    // After an hour the sweep has done it.
    const whenReleasing = { retryAttempts: 2, maxEventAge: Duration.hours(1), onFailure };
    this.release = new HolderFunction(this, "Release", {
      ...common,
      part: "release",
      description: `Releases Karpenter's nodes of ${name} when a hold is over`,
      timeout: Duration.minutes(5),
      whenAsync: whenReleasing,
    });
    new Alias(this, "ReleaseBySchedule", {
      aliasName: scheduleAlias,
      version: this.release.fn.latestVersion,
      ...whenReleasing,
    });
    this.sweep = new HolderFunction(this, "Sweep", {
      ...common,
      part: "sweep",
      description: `Compares holds, nodes and clock of ${name}, and repairs what events lost`,
      timeout: Duration.minutes(5),
      // Two sweeps at once would do the same work twice. Lambda rejects this in accounts with a low quota.
      ...(plan.reserveConcurrency && { reservedConcurrency: 1 }),
      // No retry and no dead letter: the next sweep does the same work.
      whenAsync: { retryAttempts: 0, maxEventAge: Duration.millis(sweepEvery) },
    });
    this.control = new HolderFunction(this, "Control", {
      ...common,
      part: "control",
      description: `Answers operators of the node holder of ${name}`,
      timeout: Duration.minutes(2),
      // The caller sees the failure, and a retry hours later would be wrong.
      whenAsync: { retryAttempts: 0, maxEventAge: Duration.minutes(5), onFailure },
    });
  }

  get all(): readonly HolderFunction[] {
    return [this.hold, this.release, this.sweep, this.control];
  }
}
