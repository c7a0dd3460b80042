import { Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { AccountPrincipal, ManagedPolicy, Role } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { describe, expect, it } from "vitest";
import { HolderStack } from "../../infra/holder-stack.ts";
import { KarpenterNodeHolder } from "../../infra/index.ts";
import { readContext } from "../../infra/settings/context.ts";
import { deploymentSettings } from "../../infra/settings/deployment.ts";
import { metricNamespace, watchedMetrics } from "../../lambda/core/metrics.ts";
import { monitoringVariable, SettingEnvironment } from "../../lambda/environment.ts";
import { settingNames } from "../../lambda/settings.ts";
import { holderSettings } from "../../lambda/settings-table.ts";
import { otherCosts, otherValues } from "../support/other-values.ts";
import { sentTooEarly } from "./sent-too-early.ts";
import {
  actions,
  allowed,
  everyResource,
  functionIn,
  newApp,
  resourcesOf,
  synthesize,
  synthesizeEverything,
  synthesizeWith,
} from "./synthesized.ts";

const everything = synthesizeEverything();

/** Properties that look like a resource's own name: an alias and a policy have theirs within a function or a role. */
const ofAnother = ["AliasName", "MetricName", "PolicyName"];
const withinAnother = ["AWS::Lambda::Alias", "AWS::Lambda::EventInvokeConfig"];

/** Every fixed name in a template, which another stack in the same account and region could use too, with its resource. */
const namesIn = (template: Template): readonly string[] =>
  everyResource(template)
    .filter(({ Type }) => !withinAnother.includes(Type))
    .flatMap(({ Type, Properties = {} }) =>
      Object.entries(Properties)
        .filter(([key, name]) => key.endsWith("Name") && !ofAnother.includes(key) && typeof name === "string")
        .map(([, name]) => `${Type} ${name}`),
    );

const templateOf = (context: Readonly<Record<string, string>>): Template =>
  Template.fromJSON(deployed(context).template);

/** What is deployed, and what stops the deployment. */
function deployed(context: Readonly<Record<string, string>>) {
  const app = newApp();
  const { artifactId } = new HolderStack(app, "Mine", readContext({ cluster: "prod", ...context }), {});
  const { template, messages } = app.synth().getStackArtifact(artifactId);
  return {
    template,
    errors: messages.filter(({ level }) => level === "error").map(({ entry }) => entry.data),
  };
}

const usual = deployed({});

it.each([otherValues(holderSettings), otherCosts(holderSettings)])(
  "passes the settings %j on to the functions",
  (texts: Readonly<Record<string, string>>) => {
    const functions = resourcesOf(templateOf(texts), "AWS::Lambda::Function").values();
    const environments = [...functions].map(({ Properties }) => Object(Properties.Environment).Variables);
    const given = settingNames.filter((name) => name in texts);
    const expected = given.map((name) => [SettingEnvironment[name], texts[name]]);
    expect(environments).toContainEqual(expect.objectContaining(Object.fromEntries(expected)));
  },
);

it.each(Object.entries(otherValues(deploymentSettings)))(
  "deploys something else with %s=%s, and no rule before the policies that admit it",
  (name, value) => {
    const other = deployed({ [name]: value });
    expect(other).not.toEqual(usual);
    expect(sentTooEarly(Template.fromJSON(other.template))).toEqual([]);
  },
);

it("writes nothing into the cluster when access is manual, and names the roles to let in", () => {
  const manual = templateOf({ access: "manual" });
  manual.resourceCountIs("Custom::KarpenterNodeHolderAccess", 0);
  manual.resourceCountIs("AWS::Lambda::Function", 4);
  expect(JSON.stringify(manual.toJSON())).not.toContain("eks:CreateAccessEntry");
  const { RolesToAdmit } = manual.findOutputs("*");
  const roles = JSON.stringify(RolesToAdmit).match(/"Fn::GetAtt":\["Holder\w+Role\w+","Arn"\]/g);
  expect(roles).toHaveLength(4);
});

it("lets others ask control or force a release, and no more", () => {
  const template = synthesizeWith((holder) => {
    const account = new AccountPrincipal("444455556666");
    const operators = new Role(holder, "Operators", { assumedBy: account });
    const oncall = new Role(holder, "Oncall", { assumedBy: account });
    holder.grantInvokeControl(operators);
    holder.grantInvokeRelease(oncall);
  });
  for (const [role, fn] of [
    ["Operators", "Control"],
    ["Oncall", "Release"],
  ] as const) {
    const rights = allowed(template, role);
    expect(actions(rights)).toEqual(["lambda:InvokeFunction"]);
    expect(JSON.stringify(rights.map(({ Resource }) => Resource))).toContain(`HolderFunctions${fn}`);
  }
});

it("stands beside the holders of other clusters: every fixed name is of one cluster, however alike their names", () => {
  const likeOurSuffixes = ["a-cluster", "a-dead-letters", "a-function-errors"];
  const clusters = [...likeOurSuffixes, "a", "a-b", "a_b", `${"c".repeat(99)}1`, `${"c".repeat(99)}2`];
  const app = newApp();
  const stacks = clusters.map((cluster, i) => {
    const stack = new Stack(app, `Of${i}`);
    const holder = new KarpenterNodeHolder(stack, "Holder", { cluster, holdDuring: "rate(1 day) 1h" });
    holder.holdOn("Deployments", { eventPattern: { source: ["aws.codedeploy"] }, for: "30m" });
    return stack;
  });
  const names = stacks.map((stack) => Template.fromStack(stack)).flatMap(namesIn);
  expect(new Set(names).size).toBe(names.length);
  expect([...new Set(names.map((name) => name.split(" ")[0]))].toSorted()).toEqual(
    [
      ...["CloudWatch::Alarm", "CloudWatch::Dashboard", "Events::Rule", "Lambda::Function"],
      ...["Logs::LogGroup", "Scheduler::ScheduleGroup"],
    ].map((type) => `AWS::${type}`),
  );
});

it("is the same twice, so that deploying again changes nothing", () => {
  expect(synthesizeWith(() => {}).toJSON()).toEqual(synthesize().toJSON());
});

it("cleans up the old cluster when the name changes, because every resource of the access is replaced", () => {
  const ofAccess = (template: Template) =>
    Object.keys(template.toJSON().Resources).filter((id) => id.startsWith("HolderAccess"));
  const before = ofAccess(synthesize());

  expect(before.length).toBeGreaterThan(5);
  expect(ofAccess(synthesize({ cluster: "green" })).filter((id) => before.includes(id))).toEqual([]);
});

describe("monitoring", () => {
  const of = (monitoring: "full" | "alarms" | "none") => synthesize({ monitoring });
  const watching = (template: Template) =>
    ["AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard"].map((type) => resourcesOf(template, type).size);
  const variable = (template: Template) =>
    Object(functionIn(template, "hold")?.Environment).Variables[monitoringVariable];

  it("is alarms and a dashboard, alarms alone, or nothing, and the functions know which", () => {
    const [full = [], ...others] = (["full", "alarms", "none"] as const).map((one) => watching(of(one)));
    const [alarms] = full;
    expect(alarms).toBeGreaterThan(10);
    expect([full, ...others]).toEqual([
      [alarms, 1],
      [alarms, 0],
      [0, 0],
    ]);
    expect([variable(of("full")), variable(of("none"))]).toEqual([undefined, "none"]);
  });

  it("emits every metric that an alarm watches", () => {
    const watched = [...resourcesOf(of("alarms"), "AWS::CloudWatch::Alarm").values()]
      .filter(({ Properties }) => Properties.Namespace === metricNamespace)
      .map(({ Properties }) => Properties.MetricName);
    expect(new Set(watched)).toEqual(watchedMetrics);
  });

  it("refuses a topic for alarms that are not there", () => {
    const alarmTopicArn = "arn:aws:sns:eu-west-1:111122223333:ops";
    expect(() => readContext({ cluster: "prod", monitoring: "none", alarmTopicArn })).toThrow(
      "alarmTopicArn has no effect with monitoring=none",
    );
  });
});

describe("a restricted account", () => {
  const [boundary, path, key] = ["permissionsBoundaryArn", "rolePath", "kmsKeyArn"].map(
    (name) => otherValues(deploymentSettings)[name],
  );

  it("has its boundary and path on every role, and lets them in by either form of an access entry's ARN", () => {
    expect(resourcesOf(everything, "AWS::IAM::Role").size).toBeGreaterThan(7);
    everything.allResourcesProperties("AWS::IAM::Role", { PermissionsBoundary: boundary, Path: path });
    const entries = allowed(everything, "AdminFunctionRole")
      .filter(({ Action }) => Action.includes("eks:DeleteAccessEntry"))
      .flatMap(({ Resource }) => Resource);
    expect(entries.filter((one) => JSON.stringify(one).includes(`"${path}"`))).toHaveLength(5);
    expect(entries).toHaveLength(10);
  });

  it("has its key on all that stores something, with the right to use it by those who read and write there", () => {
    const SSESpecification = { KMSMasterKeyId: key, SSEEnabled: true, SSEType: "KMS" };
    everything.allResourcesProperties("AWS::SQS::Queue", { KmsMasterKeyId: key });
    everything.allResourcesProperties("AWS::DynamoDB::Table", { SSESpecification });
    everything.allResourcesProperties("AWS::Logs::LogGroup", { KmsKeyId: key });
    for (const role of ["HoldRole", "ReleaseRole", "SweepRole", "ControlRole", "HoldDuring1Role"])
      expect(actions(allowed(everything, role)), role).toContain("kms:Decrypt");
    expect(actions(allowed(everything, "AdminFunctionRole"))).not.toContain("kms:Decrypt");
  });

  it("takes a key and a boundary of the same app", () => {
    const stack = new Stack(newApp(), "Mine");
    const { keyArn } = new Key(stack, "Key");
    const { managedPolicyArn } = ManagedPolicy.fromManagedPolicyName(stack, "Boundary", "limits");
    const restricted = { kmsKeyArn: keyArn, permissionsBoundaryArn: managedPolicyArn };
    new KarpenterNodeHolder(stack, "Holder", { cluster: "prod", alarms: "none", ...restricted });
    const template = Template.fromStack(stack);
    const PermissionsBoundary = stack.resolve(managedPolicyArn);
    template.allResourcesProperties("AWS::IAM::Role", { PermissionsBoundary });
    template.allResourcesProperties("AWS::SQS::Queue", { KmsMasterKeyId: stack.resolve(keyArn) });
  });

  it("needs no policy of its own beside those in the roles, also with the longest name", () => {
    const cluster = "c".repeat(100);
    synthesize({ cluster, rolePath: `/${"p".repeat(100)}/` }).resourceCountIs("AWS::IAM::ManagedPolicy", 0);
  });
});

it("refuses settings that are too long for a function's environment", () => {
  const nodePools = Array.from({ length: 200 }, (_, i) => `a-rather-long-name-of-a-pool-${i}`).join(",");
  expect(() => readContext({ cluster: "prod", nodePools })).toThrow(
    /too long for the environment of a function/,
  );
});
