import { Match } from "aws-cdk-lib/assertions";
import { expect, it } from "vitest";
import { actions, allowed, resourcesOf, synthesize } from "../support/synthesized.ts";

const template = synthesize();
const roles = ["HoldRole", "ReleaseRole", "SweepRole", "ControlRole"];
const always = [
  "dynamodb:GetItem",
  "dynamodb:PutItem",
  "dynamodb:Query",
  "eks:DescribeCluster",
  "iam:PassRole",
  "logs:CreateLogStream",
  "logs:PutLogEvents",
  "scheduler:CreateSchedule",
];
const failing = ["sqs:SendMessage"];
const sending = ["sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:SendMessage"];
const consuming = ["sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:ReceiveMessage"];

const mayDo = (role: string) => actions(allowed(template, role));

it("lets hold take launches from the queue, put follow-ups into it, and look at instances", () => {
  expect(mayDo("HoldRole")).toEqual([...always, ...sending, ...consuming, "ec2:DescribeInstances"].sort());
});

it("lets release neither see the launch queue nor EC2", () => {
  expect(mayDo("ReleaseRole")).toEqual(
    [...always, "sqs:GetQueueAttributes", "sqs:GetQueueUrl", ...failing].sort(),
  );
  const sends = allowed(template, "ReleaseRole").filter(({ Action }) => Action.includes("sqs:SendMessage"));
  expect(JSON.stringify(sends.map(({ Resource }) => Resource))).not.toContain("LaunchesQueue");
});

it.each(["SweepRole", "ControlRole"])(
  "lets %s repair what hold does, without taking its messages",
  (role) => {
    expect(mayDo(role)).toEqual([...always, ...sending, "ec2:DescribeInstances"].sort());
  },
);

it("names the resource of everything that has one", () => {
  for (const role of [...roles, "AdminFunctionRole"]) {
    const unnamed = allowed(template, role).filter(({ Resource }) => Resource.includes("*"));
    expect(actions(unnamed)).toEqual(unnamed.length > 0 ? ["ec2:DescribeInstances"] : []);
  }
});

it("lets nobody pass any role but the one-shots', and to nobody but Scheduler", () => {
  for (const role of roles) {
    const passing = allowed(template, role).filter(({ Action }) => Action.includes("iam:PassRole"));
    expect(passing).toEqual([
      {
        Action: ["iam:PassRole"],
        Resource: [{ "Fn::GetAtt": [expect.stringContaining("ReleasesRole"), "Arn"] }],
        Condition: { StringEquals: { "iam:PassedToService": "scheduler.amazonaws.com" } },
      },
    ]);
  }
});

it("lets one-shots of this group, and of no other, invoke release and nothing else", () => {
  template.hasResourceProperties("AWS::IAM::Role", {
    AssumeRolePolicyDocument: {
      Statement: [
        {
          Action: "sts:AssumeRole",
          Principal: { Service: "scheduler.amazonaws.com" },
          Condition: {
            StringEquals: Match.objectLike({
              "aws:SourceArn": { "Fn::GetAtt": [Match.stringLikeRegexp("ReleasesGroup"), "Arn"] },
            }),
          },
        },
      ],
    },
  });
  const invoking = allowed(template, "ReleasesRole");
  expect(actions(invoking)).toEqual(["lambda:InvokeFunction"]);
  expect(JSON.stringify(invoking)).toContain(":function:karpenter-node-holder-prod-release");
});

it("lets the access function make an admin of nobody but itself", () => {
  const associating = allowed(template, "AdminFunctionRole").filter(({ Action }) =>
    Action.includes("eks:AssociateAccessPolicy"),
  );
  expect(associating).toHaveLength(1);
  expect(JSON.stringify(associating[0]?.Resource)).toMatch(/access-entry\/prod\/role\/.*AdminFunctionRole/);
  expect(JSON.stringify(associating[0]?.Condition)).toContain("AmazonEKSClusterAdminPolicy");
});

it("lets the access function create entries for our own roles only", () => {
  const [creating] = allowed(template, "AdminFunctionRole").filter(({ Action }) =>
    Action.includes("eks:CreateAccessEntry"),
  );
  const principals = JSON.stringify(creating?.Condition);
  for (const role of [...roles, "AdminFunctionRole"]) expect(principals).toContain(role);
  expect(principals).not.toContain("*");
});

it("gives every function a role of its own", () => {
  const used = [...resourcesOf(template, "AWS::Lambda::Function").values()].map(({ Properties }) =>
    JSON.stringify(Properties.Role),
  );
  expect(new Set(used).size).toBe(used.length);
});
