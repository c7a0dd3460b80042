import { Aws, CfnCondition, CfnMapping, Fn, Stack, Token } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { partitionOf } from "../lambda/aws/partitions.ts";

/** The address of a CloudWatch dashboard in the console of the partition of this scope's stack. */
export function dashboardUrl(scope: Construct, dashboard: string): string {
  const { region } = Stack.of(scope);
  const path = `cloudwatch/home?region=${region}#dashboards/dashboard/${dashboard}`;
  return `https://${region}.${consoleDomain(scope)}/${path}`;
}

/** The console of each partition. */
const consoles: Readonly<Record<string, { domain: string }>> = {
  aws: { domain: "console.aws.amazon.com" },
  "aws-cn": { domain: "console.amazonaws.cn" },
  "aws-us-gov": { domain: "console.amazonaws-us-gov.com" },
  "aws-eusc": { domain: "console.amazonaws-eusc.eu" },
  "aws-iso": { domain: "console.c2shome.ic.gov" },
  "aws-iso-b": { domain: "console.sc2shome.sgov.gov" },
  "aws-iso-e": { domain: "console.cloud.adc-e.uk" },
  "aws-iso-f": { domain: "console.csp.hci.ic.gov" },
};

function consoleDomain(scope: Construct): string {
  const { region } = Stack.of(scope);
  if (!Token.isUnresolved(region)) return consoles[partitionOf(region).name]?.domain ?? "";
  const mapping = { ...consoles };
  return new CfnMapping(scope, "Console", { mapping }).findInMap(Aws.PARTITION, "domain");
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
