import { Duration, Fn, Stack } from "aws-cdk-lib";
import { CfnRule, Rule, type RuleTargetInput } from "aws-cdk-lib/aws-events";
import { SqsQueue } from "aws-cdk-lib/aws-events-targets";
import type { IGrantable } from "aws-cdk-lib/aws-iam";
import { EventSourceMapping } from "aws-cdk-lib/aws-lambda";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct, type IConstruct } from "constructs";
import { launchesAndProbes, probeSource } from "../../lambda/handlers/event-sources.ts";
import { acknowledge } from "../acknowledge.ts";
import type { HolderFunction } from "../functions/holder-function.ts";

const sealed = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true } as const;
const longestRetention = Duration.days(14);

/** Brings launches from the event bus to the hold function, and its follow-ups back to it. */
export class LaunchQueue extends Construct {
  readonly queue: Queue;
  /** Messages that the hold function could not handle. */
  readonly deadLetters: Queue;
  /** Events that the bus could not put into the queue. */
  readonly undelivered: Queue;
  readonly rule: Rule;

  constructor(scope: Construct, id: string, props: Readonly<{ name: string; consumerTimeout: Duration }>) {
    super(scope, id);
    this.deadLetters = new Queue(this, "DeadLetters", { ...sealed, retentionPeriod: longestRetention });
    this.undelivered = new Queue(this, "Undelivered", { ...sealed, retentionPeriod: longestRetention });
    acknowledge(this.undelivered, {
      "AwsSolutions-SQS3": "it is the dead-letter queue of the rule's target",
    });
    this.queue = new Queue(this, "Queue", {
      ...sealed,
      // Six times the function's timeout, as Lambda recommends: otherwise a message in flight is delivered again.
      visibilityTimeout: Duration.seconds(props.consumerTimeout.toSeconds() * 6),
      // A launch older than a day protects nothing any more.
      retentionPeriod: Duration.days(1),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: 5 },
    });
    const rule = new Rule(this, "Launches", {
      description: `Launched instances, and probes of the node holder of ${props.name}`,
      targets: [this.target()],
      eventPattern: { source: ["aws.ec2", probeSource] },
    });
    // One rule for both, so that a probe goes the way of launches; the Rule construct takes no alternatives.
    if (rule.node.defaultChild instanceof CfnRule) {
      const { account, region, stackId } = Stack.of(this);
      // The last part of a stack's ARN is unique and in no event.
      const probeKey = Fn.select(2, Fn.split("/", stackId));
      const { name: cluster } = props;
      rule.node.defaultChild.eventPattern = launchesAndProbes({ cluster, account, region, probeKey });
    }
    this.rule = rule;
  }

  /** The queue as a rule's target; without a message it receives the event itself. */
  target(message?: RuleTargetInput): SqsQueue {
    return new SqsQueue(this.queue, { deadLetterQueue: this.undelivered, ...(message && { message }) });
  }

  /** Lets a function put its follow-ups into the queue. */
  openTo(sender: IGrantable): void {
    this.queue.grantSendMessages(sender);
  }

  /** Passes launches on to this function; only what failed is delivered again. */
  feed(consumer: HolderFunction): IConstruct {
    this.queue.grantConsumeMessages(consumer);
    return new EventSourceMapping(this, "Feed", {
      target: consumer.fn,
      eventSourceArn: this.queue.queueArn,
      // With a batching window, which larger batches require, Lambda may wait up to 20 seconds on a quiet queue.
      batchSize: 10,
      // Two at a time, so that a burst of launches does not become a burst of calls to the cluster.
      maxConcurrency: 2,
      reportBatchItemFailures: true,
    });
  }
}
