import { type Duration, Stack } from "aws-cdk-lib";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction as FunctionTarget } from "aws-cdk-lib/aws-events-targets";
import { Construct } from "constructs";
import type { HolderFunction } from "../functions/holder-function.ts";

/** Settings may have changed with them. */
const deployed = ["CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE"];

/** Invokes the sweep, now and then and after each deployment of its stack. */
export class SweepTimer extends Construct {
  constructor(scope: Construct, id: string, props: Readonly<{ every: Duration; sweep: HolderFunction }>) {
    super(scope, id);
    new Rule(this, "Rule", {
      description: "Compares holds, nodes and clock",
      schedule: Schedule.rate(props.every),
      eventPattern: {
        source: ["aws.cloudformation"],
        detailType: ["CloudFormation Stack Status Change"],
        detail: { "stack-id": [Stack.of(this).stackId], "status-details": { status: deployed } },
      },
      // No dead-letter queue: the next sweep does the same.
      targets: [new FunctionTarget(props.sweep.fn, { retryAttempts: 1, maxEventAge: props.every })],
    });
  }
}
