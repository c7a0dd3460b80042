import { RetentionDays } from "aws-cdk-lib/aws-logs";
import { expect, it } from "vitest";
import { readContext } from "../../infra/settings/context.ts";
import { deploymentSettings } from "../../infra/settings/deployment.ts";
import { BadInputError } from "../../lambda/core/errors.ts";

function problemsOf(context: Readonly<Record<string, unknown>>): readonly string[] {
  try {
    readContext(context);
  } catch (error) {
    if (error instanceof BadInputError) return error.problems;
    throw error;
  }
  return [];
}

it.each([
  ["hodl", "hold"],
  ["alarmTopic", "alarmTopicArn"],
  ["logRetention", "logRetentionDays"],
  ["maxHoldTime", "maxHold"],
])("refuses %s, which is no setting, and names %s", (given, meant) => {
  expect(problemsOf({ cluster: "prod", [given]: "4h" })).toEqual([
    `${given} is no setting: did you mean ${meant}?`,
  ]);
});

it("refuses a name, which only a holder in an app of one's own may have", () => {
  expect(problemsOf({ cluster: "prod", name: "" })).toEqual([]);
  expect(problemsOf({ cluster: "prod", name: "other" })).toEqual([
    'name is for an app of your own: here all is named after the cluster, not "other"',
  ]);
});

it("leaves the keys of the CDK and of others alone", () => {
  const others = { "@aws-cdk/core:checkSecretUsage": true, "vpc-provider:account=1": {} };
  expect(problemsOf({ cluster: "prod", stage: "test", app: "node app.js", ...others })).toEqual([]);
});

it("names what only a deployment knows together with the rest", () => {
  const network = { access: "maybe", vpc: "vpc-1" };
  const given = { ...network, alarmTopicArn: "somewhere", logRetentionDays: "31", reserveConcurrency: "1" };
  const problems = problemsOf(given).map((problem) => problem.split(" ")[0]);
  expect(problems).toEqual(["cluster", ...Object.keys(given)]);
});

it("takes a list of windows, as cdk.json has one of NodePools", () => {
  const holdDuring = ["cron(0 8 ? * MON,FRI *) 2h", "rate(1 day) 5m"];
  expect(problemsOf({ cluster: "prod", nodePools: ["a", "!b"], holdDuring })).toEqual([]);
});

it("gives the construct a network by its ids, and leaves the topic to the stack", () => {
  const { props, alarmTopicArn } = readContext({
    cluster: "prod",
    vpc: "subnet-1a2b3c4d, subnet-0123456789abcdef0,sg-5e6f7a8b",
    alarmTopicArn: "arn:aws:sns:eu-west-1:111122223333:ops",
    stage: "test",
  });
  const subnetIds = ["subnet-1a2b3c4d", "subnet-0123456789abcdef0"];
  expect(props).toEqual({ cluster: "prod", vpc: { subnetIds, securityGroupIds: ["sg-5e6f7a8b"] } });
  expect(alarmTopicArn).toBe("arn:aws:sns:eu-west-1:111122223333:ops");
});

it("names the cluster as it was checked, for the stack and its resources", () => {
  for (const cluster of [" prod ", 2024])
    expect(readContext({ cluster }).props).toEqual({ cluster: String(cluster).trim() });
});

it("wants a security group beside the subnets", () => {
  expect(problemsOf({ cluster: "prod", vpc: "subnet-1a2b3c4d" })).toHaveLength(1);
});

it("takes the retentions that the CDK has, and no other", () => {
  const known = Object.values(RetentionDays).filter((days) => typeof days === "number");
  const { pattern } = deploymentSettings.logRetentionDays.value;
  for (let days = 0; days < 10_000; days++) {
    if (pattern.test(String(days)) !== known.includes(days)) expect.fail(`${days} days`);
  }
});
