import type { Duration } from "aws-cdk-lib";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction as FunctionTarget } from "aws-cdk-lib/aws-events-targets";
import { Construct } from "constructs";
import type { HolderFunction } from "../functions/holder-function.ts";

/** Invokes the sweep. */
export class SweepTimer extends Construct {
  constructor(scope: Construct, id: string, props: Readonly<{ every: Duration; sweep: HolderFunction }>) {
    super(scope, id);
    new Rule(this, "Rule", {
      description: "Compares holds, nodes and clock",
      schedule: Schedule.rate(props.every),
      // No dead-letter queue: the next sweep does the same.
      targets: [new FunctionTarget(props.sweep.fn, { retryAttempts: 1, maxEventAge: props.every })],
    });
  }
}
