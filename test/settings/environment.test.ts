import { describe, expect, it } from "vitest";
import { minutes } from "../../lambda/core/duration.ts";
import { BadInputError } from "../../lambda/core/errors.ts";
import { readConfig } from "../../lambda/environment.ts";

const env = {
  HOLD_TABLE: "holds",
  LAUNCH_QUEUE_URL: "https://sqs.example/launches",
  SCHEDULE_GROUP: "group",
  SCHEDULE_ROLE_ARN: "arn:aws:iam::1:role/r",
  RELEASE_FUNCTION_ARN: "arn:aws:lambda:eu-central-1:1:function:release",
  AWS_REGION: "eu-central-1",
  CLUSTER: "prod",
  HOLD: "15m",
};

describe("the environment", () => {
  it("gives names, region and settings", () => {
    const config = readConfig(env);

    expect(config).toMatchObject({ holdTable: "holds", region: "eu-central-1" });
    expect(config.settings).toMatchObject({ cluster: "prod", hold: minutes(15), scope: "cluster" });
  });

  it("is refused with all that is missing, empty or wrong in one error", () => {
    const wrong = { ...env, HOLD_TABLE: undefined, AWS_REGION: " ", HOLD: "1", CLUSTER: "" };

    const refused = () => readConfig(wrong);

    expect(refused).toThrow(BadInputError);
    expect(refused).toThrow(
      "Cannot start: HOLD_TABLE is missing; AWS_REGION is missing; cluster is missing: give an EKS cluster's name (letters, digits, - and _, at most 100), like prod; hold must be",
    );
  });

  it("never prints its other variables", () => {
    const wrong = { ...env, HOLD: "1", AWS_SECRET_ACCESS_KEY: "very-secret" };

    expect(() => readConfig(wrong)).toThrow(expect.not.stringContaining("very-secret"));
  });
});
