import { Duration, Stack } from "aws-cdk-lib";
import { expect, it } from "vitest";
import { KarpenterNodeHolder } from "../../infra/index.ts";
import { BadInputError } from "../../lambda/core/errors.ts";
import { newApp } from "./synthesized.ts";

const newStack = (app = newApp(), id = "Mine", region = "eu-west-1") =>
  new Stack(app, id, { env: { account: "111122223333", region } });

/** Builds from props that no compiler has checked, as in a JavaScript app. */
function problemsOf(props: Readonly<Record<string, unknown>>): readonly string[] {
  try {
    Reflect.construct(KarpenterNodeHolder, [newStack(), "Holder", { cluster: "prod", ...props }]);
  } catch (error) {
    if (error instanceof BadInputError) return error.problems;
    throw error;
  }
  return [];
}

it.each([
  [{ maxHold: 3600 }, /^maxHold must be a duration from 1m to 168h/],
  [{ maxHold: { minutes: 30 } }, /^maxHold must be a duration .+, not an object$/],
  [{ access: "auto" }, 'access must be install or manual, not "auto"'],
  [{ reserveConcurrency: 1 }, 'reserveConcurrency must be false or true, not "1"'],
  [
    { logRetentionDays: 31 },
    /^logRetentionDays must be a number of days that CloudWatch knows, like 90, not "31"$/,
  ],
  [{ alarmTopic: "arn:aws:sns:eu-west-1:111122223333:ops" }, /^alarmTopic must be an SNS topic of the CDK/],
  [{ vpc: "subnet-1a2b3c4d,sg-5e6f7a8b" }, /^vpc must be \{ subnetIds/],
  [{ vpc: { vpc: { selectSubnets() {} }, clusterSecurityGroupIds: ["sg-2"] } }, /^vpc must be \{ subnetIds/],
  [{ vpc: { vpc: { selectSubnets() {} }, securityGroupIds: ["sg-2"] } }, /^vpc must be \{ subnetIds/],
  [{ vpc: { vpc: { selectSubnets() {} }, securityGroup: {} } }, /^vpc must be \{ subnetIds/],
  [{ vpc: { vpc: null } }, /^vpc must be \{ subnetIds.*, not an object$/],
  [{ hold: { toMilliseconds: 5 } }, /^hold must be auto, or a duration .+, not an object$/],
  [{ maxhold: Duration.hours(1) }, "maxhold is no setting: did you mean maxHold?"],
  [{ alarmTopicArn: "arn" }, "alarmTopicArn is no setting: did you mean alarmTopic?"],
  [{ colour: "red" }, "colour is no setting"],
])("refuses %j from an app without types, by name", (props, expected) => {
  expect(problemsOf(props)).toEqual([
    typeof expected === "string" ? expected : expect.stringMatching(expected),
  ]);
});

it("names all of them at once", () => {
  expect(problemsOf({ hold: "30y", access: "auto", breather: Duration.days(2) })).toHaveLength(3);
});

it("reads a name without the spaces around it", () => {
  const { name, cluster } = new KarpenterNodeHolder(newStack(), "Holder", {
    cluster: "prod\n",
    alarms: "none",
  });
  expect({ name, cluster }).toEqual({ name: "prod", cluster: "prod" });
});

it("takes a prop that is undefined or null for one that was left out", () => {
  const missing = { hold: undefined, vpc: undefined, access: undefined };
  expect(problemsOf({ ...missing, alarmTopic: null, maxHold: null })).toEqual([]);
});

it("refuses a second holder for one cluster, and names the first; the same name elsewhere is another cluster", () => {
  const app = newApp();
  const inRegion = (id: string, region: string) =>
    new KarpenterNodeHolder(newStack(app, id, region), "Holder", { cluster: "prod" });
  inRegion("Ireland", "eu-west-1");
  expect(() => inRegion("Again", "eu-west-1")).toThrow("cluster prod already has a holder at Ireland/Holder");
  expect(() => inRegion("Virginia", "us-east-1")).not.toThrow();
  new KarpenterNodeHolder(newStack(app, "Another"), "Holder", { cluster: "staging" });
});
