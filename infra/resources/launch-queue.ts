import { Duration, Fn, Lazy, Stack } from "aws-cdk-lib";
import { CfnRule, Rule, type RuleProps, type RuleTargetInput } from "aws-cdk-lib/aws-events";
import { type IGrantable, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { EventSourceMapping } from "aws-cdk-lib/aws-lambda";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct, type IConstruct } from "constructs";
import { probeSource } from "../../lambda/handlers/event-sources.ts";
import { acknowledge } from "../acknowledge.ts";
import { launchesAndProbes } from "../event-pattern.ts";
import type { HolderFunction } from "../functions/holder-function.ts";
import { ruleName } from "../names.ts";

const sealed = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true } as const;
type RuleOfEvents = Pick<RuleProps, "description" | "eventPattern"> &
  Readonly<{
    /** The end of its name. */
    what: string;
    /** Without it the queue receives the event itself. */
    message?: RuleTargetInput;
  }>;

const longestRetention = Duration.days(14);

/** Brings launches from the event bus to the hold function, and its follow-ups back to it. */
export class LaunchQueue extends Construct {
  readonly queue: Queue;
  /** Messages that the hold function could not handle. */
  readonly deadLetters: Queue;
  /** Events that the bus could not put into the queue. */
  readonly undelivered: Queue;
  readonly rule: Rule;
  private readonly name: string;
  /** Of the rules that may send: one statement names them all, because SQS takes at most 20 statements. */
  private readonly ruleArns: string[] = [];

  constructor(scope: Construct, id: string, props: Readonly<{ name: string; consumerTimeout: Duration }>) {
    super(scope, id);
    this.name = props.name;
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
    const conditions = { ArnEquals: { "aws:SourceArn": Lazy.list({ produce: () => this.ruleArns }) } };
    const bus = new ServicePrincipal("events.amazonaws.com", { conditions });
    this.queue.grantSendMessages(bus);
    this.undelivered.grant(bus, "sqs:SendMessage");
    const rule = this.fillBy(this, "Launches", {
      what: "launches",
      description: `Launched instances, and probes of the node holder of ${props.name}`,
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

  /**
   * Sends the events of a pattern into the queue. A rule sends from its first moment on, so the queues' policies are
   * there before it: they contain its name, because a reference would make them wait for it.
   */
  fillBy(scope: Construct, id: string, { what, message, ...props }: RuleOfEvents): Rule {
    const name = ruleName(this.name, what);
    this.ruleArns.push(Stack.of(this).formatArn({ service: "events", resource: "rule", resourceName: name }));
    const rule = new Rule(scope, id, { ...props, ruleName: name });
    rule.addTarget({
      bind: () => ({
        arn: this.queue.queueArn,
        deadLetterConfig: { arn: this.undelivered.queueArn },
        ...(message && { input: message }),
      }),
    });
    rule.node.addDependency(this.queue, this.undelivered);
    return rule;
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
