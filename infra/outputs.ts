import { CfnOutput, Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import type { KarpenterNodeHolder } from "./node-holder.ts";
import { dashboardUrl } from "./partition.ts";

/** Outputs for an operator, in the scope's stack. */
export function addOutputs(holder: KarpenterNodeHolder, scope: Construct): void {
  const output = (id: string, description: string, value: string) =>
    new CfnOutput(scope, id, { description, value });
  output("HoldFunction", "Handles launches", holder.holdFunction.functionName);
  output("ReleaseFunction", "Releases nodes when a hold is over", holder.releaseFunction.functionName);
  output(
    "SweepFunction",
    "Compares record, nodes and clock, and repairs what lost events left",
    holder.sweepFunction.functionName,
  );
  output("ControlFunction", "Answers operators", holder.controlFunction.functionName);
  output("LaunchQueueUrl", "Queue of launches", holder.launchQueue.queueUrl);
  const deadLetters = holder.deadLetterQueues.map((queue) => queue.queueUrl).join(" ");
  output("DeadLetterQueueUrls", "Dead-letter queues: launches, events, invocations", deadLetters);
  output("HoldTable", "Holds, present and past", holder.tableName);
  const url = dashboardUrl(Stack.of(scope), holder.dashboardName);
  output("Dashboard", "Launches, holds and nodes at a glance", url);
  output("ForceRelease", "Releases every held node at once", holder.forceReleaseCommand);
  if (holder.rolesToAdmit.length > 0) {
    const roles = holder.rolesToAdmit.map(({ roleArn }) => roleArn).join(" ");
    output("RolesToAdmit", "Give each an access entry in group karpenter-node-holder", roles);
  }
}
