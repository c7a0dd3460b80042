import { DeleteItemCommand, DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { DescribeInstancesCommand, EC2Client, TerminateInstancesCommand } from "@aws-sdk/client-ec2";
import {
  AssociateAccessPolicyCommand,
  CreateAccessEntryCommand,
  DescribeClusterCommand,
  EKSClient,
} from "@aws-sdk/client-eks";
import { AttachRolePolicyCommand, IAMClient, UpdateAssumeRolePolicyCommand } from "@aws-sdk/client-iam";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { CreateScheduleCommand, DeleteScheduleCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { AssumeRoleCommand, STSClient } from "@aws-sdk/client-sts";
import { beforeAll, describe, expect, it } from "vitest";
import { Environment } from "../../../lambda/environment.ts";
import { functionName, type Part, parts, scheduleGroupName } from "../../../lambda/names.ts";
import type { ClientOf, Emulator } from "../emulator/emulator.ts";
import type { DeployedCluster } from "./cluster.ts";

type Account = Readonly<{
  cluster: string;
  table: string;
  launchQueue: string;
  roles: Readonly<Record<Part, string>>;
}>;
/** A function's role, used by another caller. */
type Role = <C>(Client: ClientOf<C>) => C;
type Attempt = (as: Role, account: Account) => Promise<unknown>;

const adminPolicy = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy";
const makeAdmin = (principalArn: string, clusterName: string) =>
  new AssociateAccessPolicyCommand({
    clusterName,
    principalArn,
    policyArn: adminPolicy,
    accessScope: { type: "cluster" },
  });
const send = (QueueUrl: string) => new SendMessageCommand({ QueueUrl, MessageBody: "{}" });
const invoke = (cluster: string, part: Part) =>
  new InvokeCommand({ FunctionName: functionName(cluster, part) });

/** What could be tried with the credentials of one function. */
const refused: readonly (readonly [what: string, as: Part, attempt: Attempt])[] = [
  [
    "delete a record",
    "hold",
    (as, { table }) => as(DynamoDBClient).send(new DeleteItemCommand({ TableName: table, Key: key })),
  ],
  [
    "write into another table",
    "hold",
    (as) => as(DynamoDBClient).send(new PutItemCommand({ TableName: "payments", Item: key })),
  ],
  [
    "set a schedule outside of its group",
    "hold",
    (as, { roles }) =>
      as(SchedulerClient).send(new CreateScheduleCommand({ ...schedule(roles), GroupName: "default" })),
  ],
  [
    "delete a one-shot",
    "sweep",
    (as, { cluster }) =>
      as(SchedulerClient).send(
        new DeleteScheduleCommand({ Name: "any", GroupName: scheduleGroupName(cluster) }),
      ),
  ],
  [
    "send to another queue",
    "control",
    (as, { launchQueue }) => as(SQSClient).send(send(launchQueue.replace(/[^/]+$/, "orders"))),
  ],
  ["send launches", "release", (as, { launchQueue }) => as(SQSClient).send(send(launchQueue))],
  ["look at instances", "release", (as) => as(EC2Client).send(new DescribeInstancesCommand({}))],
  [
    "terminate an instance",
    "sweep",
    (as) => as(EC2Client).send(new TerminateInstancesCommand({ InstanceIds: ["i-0123456789abcdef0"] })),
  ],
  [
    "let a role into the cluster",
    "control",
    (as, { cluster, roles }) =>
      as(EKSClient).send(new CreateAccessEntryCommand({ clusterName: cluster, principalArn: roles.control })),
  ],
  [
    "make itself an admin",
    "hold",
    (as, { cluster, roles }) => as(EKSClient).send(makeAdmin(roles.hold, cluster)),
  ],
  ["force a release", "control", (as, { cluster }) => as(LambdaClient).send(invoke(cluster, "release"))],
  [
    "invoke the function that can be an admin",
    "control",
    (as, { cluster }) => as(LambdaClient).send(invoke(cluster, "cluster-access")),
  ],
  [
    "change what its role may do",
    "cluster-access",
    (as, { roles }) =>
      as(IAMClient).send(
        new AttachRolePolicyCommand({
          RoleName: nameOf(roles["cluster-access"]),
          PolicyArn: "arn:aws:iam::aws:policy/AdministratorAccess",
        }),
      ),
  ],
  // The function itself may do these two.
  [
    "find the cluster from outside of the function",
    "cluster-access",
    (as, { cluster }) => as(EKSClient).send(new DescribeClusterCommand({ name: cluster })),
  ],
  [
    "be an admin outside of the function",
    "cluster-access",
    (as, { cluster, roles }) => as(EKSClient).send(makeAdmin(roles["cluster-access"], cluster)),
  ],
];

const key = { kind: { S: "record" }, name: { S: "cluster" } };
const nameOf = (arn: string) => arn.split("/").at(-1) ?? "";
const schedule = (roles: Account["roles"]) => ({
  Name: "any",
  ScheduleExpression: "at(2099-01-01T00:00:00)",
  FlexibleTimeWindow: { Mode: "OFF" as const },
  Target: { Arn: "arn:aws:lambda:us-east-1:000000000000:function:other", RoleArn: roles.hold },
});

/** IAM on the deployed stack: the role of each function, used by another caller. */
export function misuseCases(open: () => Readonly<{ prod: DeployedCluster; emulator: Emulator }>): void {
  describe("a caller with the credentials of a function", () => {
    const roles = new Map<Part, Role>();
    let account: Account;

    beforeAll(async () => {
      const { prod, emulator } = open();
      const variables = await prod.environment("hold");
      const arns = await Promise.all(parts.map(async (part) => [part, await prod.role(part)] as const));
      account = {
        cluster: prod.name,
        table: variables[Environment.holdTable] ?? "",
        launchQueue: variables[Environment.launchQueueUrl] ?? "",
        roles: Object.fromEntries(arns) as Account["roles"],
      };
      for (const [part, arn] of arns) roles.set(part, await assume(emulator, arn));
    });

    it.each(["hold", "release", "sweep", "control"] as const)(
      "can find the cluster, as %s does",
      async (part) => {
        const found = await roles
          .get(part)?.(EKSClient)
          .send(new DescribeClusterCommand({ name: account.cluster }));
        expect(found?.cluster?.name).toBe(account.cluster);
      },
    );

    it.each(refused)("cannot %s (%s)", async (_, as, attempt) => {
      const role = roles.get(as);
      if (!role) throw new Error(`${as} has no role`);
      await expect(attempt(role, account)).rejects.toThrow(/not authorized to perform/);
    });
  });
}

/** Lets the test into a role that trusts Lambda alone, and keeps its trust as it was. */
async function assume(emulator: Emulator, RoleArn: string): Promise<Role> {
  const iam = emulator.client(IAMClient);
  const trust = (Principal: object) =>
    iam.send(
      new UpdateAssumeRolePolicyCommand({
        RoleName: nameOf(RoleArn),
        PolicyDocument: JSON.stringify({
          Version: "2012-10-17",
          Statement: [{ Effect: "Allow", Principal, Action: "sts:AssumeRole" }],
        }),
      }),
    );
  await trust({ AWS: "*" });
  const { Credentials } = await emulator
    .client(STSClient)
    .send(new AssumeRoleCommand({ RoleArn, RoleSessionName: "misuse" }));
  await trust({ Service: "lambda.amazonaws.com" });
  const credentials = {
    accessKeyId: Credentials?.AccessKeyId ?? "",
    secretAccessKey: Credentials?.SecretAccessKey ?? "",
    sessionToken: Credentials?.SessionToken ?? "",
  };
  return (Client) => emulator.client(Client, credentials);
}
