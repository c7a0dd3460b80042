import { Match } from "aws-cdk-lib/assertions";
import { expect, it } from "vitest";
import { actions, allowed, denied, synthesize, synthesizeEverything } from "./synthesized.ts";

const template = synthesize();
const roles = ["HoldRole", "ReleaseRole", "SweepRole", "ControlRole"];
it("names the resource of everything that has one", () => {
  for (const role of [...roles, "AdminFunctionRole"]) {
    const unnamed = allowed(template, role).filter(({ Resource }) => Resource.includes("*"));
    expect(actions(unnamed)).toEqual(unnamed.length > 0 ? ["ec2:DescribeInstances"] : []);
  }
});

it("allows iam:PassRole only for the one-shots' role, and only to Scheduler", () => {
  for (const role of roles) {
    const passing = allowed(template, role).filter(({ Action }) => Action.includes("iam:PassRole"));
    expect(passing).toEqual([
      {
        Effect: "Allow",
        Action: ["iam:PassRole"],
        Resource: [{ "Fn::GetAtt": [expect.stringContaining("ReleasesRole"), "Arn"] }],
        Condition: { StringEquals: { "iam:PassedToService": "scheduler.amazonaws.com" } },
      },
    ]);
  }
});

it("lets a schedule invoke the release function by the alias alone through which nothing is forced", () => {
  const [{ Action, Resource } = {}, ...others] = allowed(template, "ReleasesRole");
  expect([Action, others]).toEqual([["lambda:InvokeFunction"], []]);
  expect(JSON.stringify(Resource)).toMatch(/:function:karpenter-node-holder-prod-release:schedule"]]}]$/);
  template.hasResourceProperties("AWS::Lambda::Alias", { Name: "schedule", FunctionVersion: "$LATEST" });
  // Asynchronous invocations by an alias have settings of their own.
  template.hasResourceProperties("AWS::Lambda::EventInvokeConfig", {
    Qualifier: { "Fn::Select": [7, { "Fn::Split": [":", { Ref: Match.stringLikeRegexp("BySchedule") }] }] },
    MaximumEventAgeInSeconds: 3600,
    DestinationConfig: { OnFailure: Match.anyValue() },
  });
});

it("lets the functions that change holds put events on the default bus, in the holder's name only, where that is set", () => {
  expect(JSON.stringify(template.toJSON())).not.toContain("events:PutEvents");
  const sending = synthesize({ events: true });
  for (const role of [...roles, "AdminFunctionRole"]) {
    const rights = allowed(sending, role).filter(({ Action }) => Action.includes("events:PutEvents"));
    const [partition, region, account] = ["Partition", "Region", "AccountId"].map((name) => ({
      Ref: `AWS::${name}`,
    }));
    const bus = ["arn:", partition, ":events:", region, ":", account, ":event-bus/default"];
    const right = {
      ...{ Effect: "Allow", Action: ["events:PutEvents"], Resource: [{ "Fn::Join": ["", bus] }] },
      Condition: { StringEquals: { "events:source": "karpenter-node-holder" } },
    };
    expect(rights).toEqual(role === "AdminFunctionRole" ? [] : [right]);
  }
});

const mayOn = (action: string) =>
  allowed(template, "AdminFunctionRole").filter(({ Action }) => Action.includes(action));

it("lets the access function make an admin of itself only, by no other policy, and in no other scope", () => {
  const associating = mayOn("eks:AssociateAccessPolicy");
  expect(associating).toHaveLength(1);
  expect(associating[0]?.Resource).toHaveLength(1);
  expect(JSON.stringify(associating[0]?.Resource)).toMatch(/access-entry\/prod\/role\/.*AdminFunctionRole/);
  expect(associating[0]?.Condition).toMatchObject({
    StringEquals: {
      "eks:policyArn": {
        "Fn::Join": ["", expect.arrayContaining([expect.stringContaining("ClusterAdmin")])],
      },
      "eks:accessScope": "cluster",
    },
  });
});

it("lets the access function admit the holder's own roles only, in its own group and in no other name", () => {
  const asMember = {
    "ForAllValues:StringEquals": { "eks:kubernetesGroups": ["karpenter-node-holder"] },
    StringEqualsIfExists: { "eks:accessEntryType": "STANDARD" },
    StringLikeIfExists: {
      "eks:username": { "Fn::Join": ["", ["arn:", { Ref: "AWS::Partition" }, ":sts::*:assumed-role/*"]] },
    },
  };
  const [creating, ...more] = mayOn("eks:CreateAccessEntry");
  const [updating, ...others] = mayOn("eks:UpdateAccessEntry");
  expect([more, others]).toEqual([[], []]);
  for (const one of [creating, updating]) expect(one?.Condition).toMatchObject(asMember);
  const principals: readonly unknown[] = Object(creating?.Condition).StringEquals["eks:principalArn"];
  expect(principals).toHaveLength(5);
  for (const role of [...roles, "AdminFunctionRole"])
    expect(principals.filter((one) => JSON.stringify(one).includes(role))).toHaveLength(1);
});

it("lets the access function change and delete the entries of these roles only", () => {
  for (const action of ["eks:UpdateAccessEntry", "eks:DeleteAccessEntry"]) {
    const entries = mayOn(action).flatMap(({ Resource }) => Resource);
    expect(entries).toHaveLength(5);
    for (const entry of entries)
      expect(JSON.stringify(entry)).toMatch(/access-entry\/prod\/role\/.*"Ref":"\w+Role\w+"},"\/\*"/);
  }
});

it("ties the access function's rights on the cluster to credentials that Lambda gave to that function", () => {
  const rights = allowed(template, "AdminFunctionRole").filter(({ Action }) => Action[0]?.startsWith("eks:"));
  expect(rights.length).toBeGreaterThan(5);
  for (const { Condition } of rights)
    expect(JSON.stringify(Condition)).toMatch(
      /"ArnEquals":{"lambda:SourceFunctionArn":{[^}]*}.*:function:karpenter-node-holder-prod-cluster-access"/,
    );
});

it("lets functions in a VPC have network interfaces, but no code create any, nor a log group", () => {
  const everything = synthesizeEverything();
  expect(JSON.stringify(everything.toJSON())).not.toContain("AWSLambdaVPCAccessExecutionRole");
  for (const role of [...roles, "AdminFunctionRole"]) {
    expect(actions(allowed(everything, role))).toContain("ec2:CreateNetworkInterface");
    expect(actions(allowed(everything, role))).not.toContain("logs:CreateLogGroup");
    const [interfaces] = denied(everything, role);
    expect(interfaces?.Action).toContain("ec2:CreateNetworkInterface");
    expect(JSON.stringify(interfaces?.Condition)).toContain("lambda:SourceFunctionArn");
  }
});
