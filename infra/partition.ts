import { Aws, CfnCondition, CfnMapping, Fn, Stack, Token } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { partitionOf, partitions } from "../lambda/aws/partitions.ts";

/** The address of a CloudWatch dashboard in the console of the stack's partition. */
export function dashboardUrl(stack: Stack, dashboard: string): string {
  const { region } = stack;
  const path = `cloudwatch/home?region=${region}#dashboards/dashboard/${dashboard}`;
  return `https://${region}.${consoleDomain(stack)}/${path}`;
}

function consoleDomain(stack: Stack): string {
  if (!Token.isUnresolved(stack.region)) return partitionOf(stack.region).consoleDomain;
  const mapping = Object.fromEntries(
    partitions.map(({ name, consoleDomain }) => [name, { domain: consoleDomain }]),
  );
  return new CfnMapping(stack, "Console", { mapping }).findInMap(Aws.PARTITION, "domain");
}

/** Commercial regions in which Lambda has no recursion control; no other partition has it. */
const regionsWithoutRecursionControl = ["ap-southeast-6", "mx-central-1"];

/**
 * The setting that lets a function invoke itself through a queue. Lambda ends such loops after 16 rounds, except in
 * the regions where it neither detects them nor accepts the setting.
 */
export function recursiveLoopAllowed(scope: Construct): string | undefined {
  const { region } = Stack.of(scope);
  if (!Token.isUnresolved(region)) {
    const offered = partitionOf(region).name === "aws" && !regionsWithoutRecursionControl.includes(region);
    return offered ? "Allow" : undefined;
  }
  const offered = new CfnCondition(scope, "RecursionControl", {
    expression: Fn.conditionAnd(
      Fn.conditionEquals(Aws.PARTITION, "aws"),
      ...regionsWithoutRecursionControl.map((one) => Fn.conditionNot(Fn.conditionEquals(Aws.REGION, one))),
    ),
  });
  return Fn.conditionIf(offered.logicalId, "Allow", Aws.NO_VALUE).toString();
}
