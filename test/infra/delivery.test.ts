import { Match, Template } from "aws-cdk-lib/assertions";
import { expect, it } from "vitest";
import type { Account } from "../../cli/doctor/aws/aws-account.ts";
import { sweepNow } from "../../cli/doctor/doctor.ts";
import { templateKinds } from "../../cli/template/fill-in.ts";
import type { KarpenterNodeHolder } from "../../infra/index.ts";
import { synthesizeTemplate } from "../../scripts/templates.ts";
import { sentTooEarly } from "./sent-too-early.ts";
import {
  everyResource,
  functionIn,
  resourcesOf,
  synthesize,
  synthesizeEverything,
  synthesizeWith,
} from "./synthesized.ts";

const template = synthesize();
const everything = synthesizeEverything();

const stackUuid = { "Fn::Select": [2, { "Fn::Split": ["/", { Ref: "AWS::StackId" }] }] };

it("receives launches of its account and region and this cluster's probes with its key by the same rule, and keeps what it cannot deliver", () => {
  template.hasResourceProperties("AWS::Events::Rule", {
    EventPattern: {
      account: [{ Ref: "AWS::AccountId" }],
      region: [{ Ref: "AWS::Region" }],
      $or: [
        { source: ["aws.ec2"], detail: { state: ["pending"] } },
        { source: ["karpenter-node-holder.probe"], detail: { cluster: ["prod"], key: [stackUuid] } },
      ].map(Match.objectLike),
    },
    Targets: [Match.objectLike({ DeadLetterConfig: Match.anyValue() })],
  });
});

it("loses no event of a fresh deployment: the queues' policies admit each rule before it is there", () => {
  const withTriggers = synthesizeWith((holder) => {
    const eventPattern = { source: ["aws.codedeploy"] };
    for (const id of ["Deployments", "Rollouts"]) holder.holdOn(id, { eventPattern, for: "30m" });
  });
  withTriggers.resourceCountIs("AWS::Events::Rule", 4);
  const templates = templateKinds.map((kind) => Template.fromJSON({ ...synthesizeTemplate(kind).template }));
  for (const each of [template, everything, withTriggers, ...templates])
    expect(sentTooEarly(each)).toEqual([]);
});

it("admits the rules of many events by policies that SQS takes, and refuses more of them", () => {
  const many = (count: number) => (holder: KarpenterNodeHolder) => {
    const eventPattern = { source: ["aws.codedeploy"] };
    for (let i = 0; i < count; i++) holder.holdOn(`Event${i}`, { eventPattern, for: "30m" });
  };
  const cluster = "c".repeat(100);
  const most = synthesizeWith(many(60), { cluster });
  expect(sentTooEarly(most)).toEqual([]);
  for (const { Properties } of resourcesOf(most, "AWS::SQS::QueuePolicy").values()) {
    expect(Object(Properties.PolicyDocument).Statement.length).toBeLessThanOrEqual(20);
    expect(rendered(Properties.PolicyDocument).length).toBeLessThanOrEqual(8_192);
  }
  expect(() => synthesizeWith(many(61))).toThrow(
    "of Test/Holder/Triggers cannot be used: there are 60 holdOn already, and the queue's policy has no room for more",
  );
});

/** As long as it can become in any account and region. */
const rendered = (value: unknown): string =>
  JSON.stringify(value, (_, one) => {
    if ("Fn::GetAtt" in Object(one)) return `arn:aws-us-gov:sqs:us-gov-east-1:123456789012:${"q".repeat(80)}`;
    const [, parts] = Object(one)["Fn::Join"] ?? [];
    const where = { "AWS::Partition": "aws-us-gov", "AWS::Region": "us-gov-east-1" };
    const longest: Record<string, string> = { ...where, "AWS::AccountId": "123456789012" };
    return (
      parts?.map((part: unknown) => (typeof part === "string" ? part : longest[Object(part).Ref])).join("") ??
      one
    );
  });

it("does not deliver a message again while a function may still handle it", () => {
  const timeout = Number(functionIn(template, "hold")?.Timeout);
  template.hasResourceProperties("AWS::SQS::Queue", { VisibilityTimeout: timeout * 6 });
});

it("lets doctor --fix wait for a sweep until it has ended, because it would invoke another one beside it", async () => {
  const waits: unknown[] = [];
  const account: Partial<Account> = { invoke: async (...[, , within]) => void waits.push(within) };
  await sweepNow({ account: account as Account }).apply();
  expect(waits).toHaveLength(1);
  expect(Number(waits[0]) / 1_000).toBeGreaterThan(Number(functionIn(template, "sweep")?.Timeout));
});

it("runs CDK's provider on the same Node, with no right to create its log group again", () => {
  const runtimes = [...resourcesOf(template, "AWS::Lambda::Function").values()].map(
    ({ Properties }) => Properties.Runtime,
  );
  expect(runtimes).toEqual(Array(6).fill("nodejs24.x"));
  for (const each of [template, everything])
    expect(JSON.stringify(each.toJSON())).not.toMatch(/logs:CreateLogGroup|AWSLambda\w+Role/);
});

it("receives no launch before its rights are in the cluster, nor after they are removed", () => {
  for (const type of ["AWS::Lambda::EventSourceMapping", "AWS::Events::Rule"]) {
    for (const { DependsOn } of resourcesOf(template, type).values()) {
      expect(DependsOn).toContainEqual(expect.stringMatching(/Access.*Installed/));
    }
  }
});

it("changes the cluster only when every function is updated", () => {
  const [access] = resourcesOf(template, "Custom::KarpenterNodeHolderAccess").values();
  for (const part of ["Hold", "Release", "Sweep", "Control"]) {
    expect(access?.DependsOn).toContainEqual(expect.stringContaining(`Functions${part}Function`));
  }
});

it("keeps nothing when it is destroyed", () => {
  const policies = everyResource(everything).map(({ DeletionPolicy = "Delete" }) => DeletionPolicy);
  expect(new Set(policies)).toEqual(new Set(["Delete"]));
});
