import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Template } from "aws-cdk-lib/assertions";
import { afterEach, expect, it, vi } from "vitest";
import { detailOf } from "../../lambda/core/events.ts";
import { blocksIn, documents } from "../repository/documents.ts";
import { aPastHold, someRules } from "../support/builders.ts";
import { newFolder } from "../support/new-folder.ts";
import { deletedTooEarly } from "./deleted-too-early.ts";
import { sentTooEarly } from "./sent-too-early.ts";
import { everyResource, quick } from "./synthesized.ts";

const folder = join(import.meta.dirname, "../../examples");
afterEach(() => {
  vi.unstubAllEnvs();
});

/** An app's templates by stack, synthesized as the CDK's command line does it. */
async function synthesized(example: string): Promise<Readonly<Record<string, Template>>> {
  const out = newFolder();
  vi.stubEnv("CDK_OUTDIR", out);
  vi.stubEnv("CDK_CONTEXT_JSON", JSON.stringify(quick));
  await import(join(folder, example, "app.ts"));
  const stacks = readdirSync(out).flatMap((file) => /^(.+)\.template\.json$/.exec(file)?.[1] ?? []);
  const read = (stack: string) => JSON.parse(readFileSync(join(out, `${stack}.template.json`), "utf8"));
  return Object.fromEntries(stacks.map((stack) => [stack, Template.fromJSON(read(stack))]));
}

const propertiesOf = (template: Template | undefined, type: string) =>
  template
    ? everyResource(template).flatMap(({ Type, Properties }) => (Type === type ? [Properties] : []))
    : [];

/** A function, or another resource, with these properties. */
const expectOne = (template: Template | undefined, type: string, properties: object) =>
  expect(propertiesOf(template, type)).toContainEqual(expect.objectContaining(properties));
const withVariables = (variables: object) => ({
  Environment: { Variables: expect.objectContaining(variables) },
});
const ofHold = { FunctionName: "karpenter-node-holder-prod-hold" };

/** What makes each example different. */
const examples: Readonly<Record<string, (stacks: Readonly<Record<string, Template>>) => void>> = {
  plain: ({ Platform }) => {
    expectOne(Platform, "AWS::Lambda::Function", { ...ofHold, ...withVariables({ HOLD: "auto" }) });
    expect(Object.keys(Platform?.findOutputs("*") ?? {}).join()).toContain("ForceRelease");
  },
  "own-vpc": ({ Platform }) => {
    const inside = propertiesOf(Platform, "AWS::Lambda::Function").filter((one) => "VpcConfig" in one);
    const own = { "Fn::GetAtt": [expect.stringMatching(/^HolderSecurityGroup/), "GroupId"] };
    const network = { SubnetIds: ["subnet-0123456789abcdef0"], SecurityGroupIds: [own] };
    expect(inside.map(({ VpcConfig }) => VpcConfig)).toEqual(Array(5).fill(network));
    expect(propertiesOf(Platform, "AWS::EC2::SecurityGroupIngress")).toMatchObject([
      { GroupId: "sg-0123456789abcdef0", SourceSecurityGroupId: own, FromPort: 443, ToPort: 443 },
    ]);
  },
  "cluster-of-the-app": ({ Platform }) => {
    const own = { Ref: expect.stringMatching(/^Cluster/) };
    const variables = withVariables({ CLUSTER: own, HOLD: "30m" });
    expectOne(Platform, "AWS::Lambda::Function", { ...ofHold, ...variables });
  },
  "two-clusters": (stacks) => {
    expect(Object.keys(stacks).toSorted()).toEqual(["Holder-batch", "Holder-services"]);
    expectOne(stacks["Holder-batch"], "AWS::Lambda::Function", withVariables({ SCOPE: "cluster" }));
    expectOne(stacks["Holder-services"], "AWS::Lambda::Function", withVariables({ SCOPE: "nodepool" }));
  },
  "windows-and-deployments": ({ Platform }) => {
    expect(propertiesOf(Platform, "AWS::Scheduler::Schedule")).toMatchObject([
      { ScheduleExpression: "cron(0 9 ? * MON-FRI *)", ScheduleExpressionTimezone: "Europe/Berlin" },
    ]);
    const EventPattern = expect.objectContaining({ source: ["aws.codedeploy"] });
    expectOne(Platform, "AWS::Events::Rule", { EventPattern });
  },
  "alarms-to-topic": ({ Platform }) => {
    const topic = [{ Ref: expect.stringMatching(/^Alarms/) }];
    const alarms = propertiesOf(Platform, "AWS::CloudWatch::Alarm");
    expect(alarms.length).toBeGreaterThan(10);
    for (const alarm of alarms) {
      expect(alarm).toMatchObject({ AlarmActions: topic, OKActions: topic });
      expect(alarm.AlarmDescription).toContain("https://wiki.example.com/node-holder#");
    }
    expect(propertiesOf(Platform, "AWS::SNS::Subscription")).toHaveLength(1);
  },
  "events-to-chat": ({ Platform }) => {
    const rules = propertiesOf(Platform, "AWS::Events::Rule");
    const rule = rules.find(
      ({ EventPattern }) => Object(EventPattern).source?.[0] === "karpenter-node-holder",
    );
    expect(rule?.EventPattern).toMatchObject({ detail: { cluster: ["prod"] } });
    const { InputPathsMap, InputTemplate } = Object(rule?.Targets)[0].InputTransformer;
    const past = aPastHold();
    const hold = { type: "Hold Ended", scope: "cluster", holdId: past.id, past } as const;
    const event = { "detail-type": hold.type, detail: detailOf(hold, someRules()) };
    for (const path of Object.values<string>(InputPathsMap))
      expect(event).toHaveProperty(path.replace("$.", ""));
    expect(JSON.parse(InputTemplate.replaceAll(/([:,])<([\w-]+)>/g, '$1"<$2>"'))).toMatchObject({
      version: "1.0",
      source: "custom",
      content: { description: expect.stringContaining("startedBecause") },
    });
  },
};

it.each(Object.entries(examples))("the example %s synthesizes what it shows", async (example, shows) => {
  const stacks = await synthesized(example);
  shows(stacks);
  for (const template of Object.values(stacks)) {
    expect(deletedTooEarly(template)).toEqual([]);
    expect(sentTooEarly(template)).toEqual([]);
  }
});

it("no example is left out", () => {
  expect(readdirSync(folder).toSorted()).toEqual(Object.keys(examples).toSorted());
});

it("code for the CDK in the documents is part of an example", () => {
  const apps = Object.keys(examples).map((name) => readFileSync(join(folder, name, "app.ts"), "utf8"));
  const blocks = documents.flatMap((document) => blocksIn(document, "ts"));
  expect(blocks.length).toBeGreaterThan(0);
  expect(blocks.filter((block) => !apps.some((app) => app.includes(block)))).toEqual([]);
});
