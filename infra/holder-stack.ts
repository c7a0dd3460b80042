import { CfnOutput, Stack, type StackProps } from "aws-cdk-lib";
import { Topic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import type { ContextSettings } from "./context.ts";
import { KarpenterNodeHolder } from "./node-holder.ts";
import { dashboardUrl } from "./partition.ts";

/** The repository's own stack: one holder for one cluster, and what its operator will want to know. */
export class HolderStack extends Stack {
  constructor(scope: Construct, id: string, settings: ContextSettings, props: StackProps) {
    super(scope, id, props);
    const { alarmTopicArn } = settings;
    const alarmTopic = alarmTopicArn && Topic.fromTopicArn(this, "AlarmTopic", alarmTopicArn);
    const holder = new KarpenterNodeHolder(this, "Holder", {
      ...settings.props,
      ...(alarmTopic && { alarmTopic }),
    });

    this.output("HoldFunction", "Handles launches", holder.holdFunction.functionName);
    this.output("ReleaseFunction", "Releases nodes when a hold is over", holder.releaseFunction.functionName);
    this.output(
      "SweepFunction",
      "Compares everything and repairs what lost events left",
      holder.sweepFunction.functionName,
    );
    this.output("ControlFunction", "Answers operators", holder.controlFunction.functionName);
    this.output("LaunchQueueUrl", "Queue of launches", holder.launchQueue.queueUrl);
    const deadLetters = holder.deadLetterQueues.map((queue) => queue.queueUrl).join(" ");
    this.output("DeadLetterQueueUrls", "Dead-letter queues: launches, events, invocations", deadLetters);
    this.output("HoldTable", "Holds, present and past", holder.tableName);
    this.output(
      "Dashboard",
      "Launches, holds and nodes at a glance",
      dashboardUrl(this, holder.dashboardName),
    );
    this.output("ForceRelease", "Releases every held node at once", forceRelease(holder));
    if (settings.props.access === "manual") {
      this.output("RolesToAdmit", "Give each an access entry in group karpenter-node-holder", roles(holder));
    }
  }

  private output(id: string, description: string, value: string): void {
    new CfnOutput(this, id, { description, value });
  }
}

const forceRelease = (holder: KarpenterNodeHolder): string =>
  `aws lambda invoke --function-name ${holder.releaseFunction.functionName} --cli-binary-format raw-in-base64-out ` +
  `--payload '{"force":true,"reason":"why"}' /dev/stdout`;

const roles = (holder: KarpenterNodeHolder): string =>
  [holder.holdFunction, holder.releaseFunction, holder.sweepFunction, holder.controlFunction]
    .map((fn) => fn.role?.roleArn ?? "")
    .join(" ");
