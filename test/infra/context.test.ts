import { Duration } from "aws-cdk-lib";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import { expect, it } from "vitest";
import { readContext } from "../../infra/settings/context.ts";
import { minutes } from "../../lambda/core/duration.ts";
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

it("needs nothing but the cluster", () => {
  const { props, alarmTopicArn } = readContext({ cluster: "prod" });
  expect(props.hold).toEqual(Duration.millis(minutes(20)));
  expect(props.vpc).toBeUndefined();
  expect(alarmTopicArn).toBeUndefined();
});

it.each([
  ["hodl", "hold"],
  ["alarmTopic", "alarmTopicArn"],
  ["logRetention", "logRetentionDays"],
])("refuses %s, which is no setting, and names %s", (given, meant) => {
  expect(problemsOf({ cluster: "prod", [given]: "4h" })).toEqual([
    `${given} is no setting: did you mean ${meant}?`,
  ]);
});

it("leaves the keys of the CDK and of others alone", () => {
  const others = { "@aws-cdk/core:checkSecretUsage": true, "aws:cdk:enable-path-metadata": true };
  expect(problemsOf({ cluster: "prod", stage: "test", app: "node app.js", ...others })).toEqual([]);
});

it("names what only a deployment knows together with the rest", () => {
  const problems = problemsOf({
    access: "maybe",
    vpc: "vpc-1",
    alarmTopicArn: "somewhere",
    logRetentionDays: "31",
    reserveConcurrency: "1",
  });
  expect(problems.map((problem) => problem.split(" ")[0])).toEqual([
    "cluster",
    "access",
    "vpc",
    "alarmTopicArn",
    "logRetentionDays",
    "reserveConcurrency",
  ]);
});

it("reads what only a deployment knows", () => {
  const { props, alarmTopicArn } = readContext({
    cluster: "prod",
    access: "manual",
    vpc: "subnet-1a2b3c4d, subnet-0123456789abcdef0,sg-5e6f7a8b",
    alarmTopicArn: "arn:aws:sns:eu-west-1:111122223333:ops",
    logRetentionDays: 7,
    reserveConcurrency: true,
  });
  expect(props.access).toBe("manual");
  expect(props.vpc).toEqual({
    subnetIds: ["subnet-1a2b3c4d", "subnet-0123456789abcdef0"],
    securityGroupIds: ["sg-5e6f7a8b"],
  });
  expect(props.logRetention).toBe(RetentionDays.ONE_WEEK);
  expect(props.reserveConcurrency).toBe(true);
  expect(alarmTopicArn).toBe("arn:aws:sns:eu-west-1:111122223333:ops");
});

it("wants a security group beside the subnets", () => {
  expect(problemsOf({ cluster: "prod", vpc: "subnet-1a2b3c4d" })).toHaveLength(1);
});
