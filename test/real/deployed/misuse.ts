import { DeleteItemCommand, DynamoDBClient, PutItemCommand, QueryCommand } from "@aws-sdk/client-dynamodb";
import { DescribeInstancesCommand, EC2Client, TerminateInstancesCommand } from "@aws-sdk/client-ec2";
import {
  AssociateAccessPolicyCommand,
  CreateAccessEntryCommand,
  DeleteAccessEntryCommand,
  DescribeClusterCommand,
  EKSClient,
} from "@aws-sdk/client-eks";
import { AttachRolePolicyCommand, IAMClient, UpdateAssumeRolePolicyCommand } from "@aws-sdk/client-iam";
import { InvokeCommand, LambdaClient, UpdateFunctionCodeCommand } from "@aws-sdk/client-lambda";
import { CreateScheduleCommand, DeleteScheduleCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { AssumeRoleCommand, STSClient } from "@aws-sdk/client-sts";
import { beforeAll, describe, expect, it } from "vitest";
import { Environment } from "../../../lambda/environment.ts";
import { functionName, type Part, scheduleGroupName } from "../../../lambda/names.ts";
import type { ClientOf, Emulator } from "../emulator/emulator.ts";
import type { DeployedCluster } from "./cluster.ts";

type Account = Readonly<{ table: string; launchQueue: string; roles: Readonly<Record<Part, string>> }>;
type Attempt = readonly [what: string, as: Part, attempt: (as: Role, account: Account) => Promise<unknown>];

const admin = { policyArn: "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy" };
const everywhere = { accessScope: { type: "cluster" } } as const;

/** What the code of one function could try, were it not ours: IAM refuses it. */
const refused: readonly Attempt[] = [
  [
    "delete a record",
    "hold",
    (as, { table }) => as.client(DynamoDBClient).send(new DeleteItemCommand({ TableName: table, Key: key })),
  ],
  [
    "write into a table of others",
    "hold",
    (as) => as.client(DynamoDBClient).send(new PutItemCommand({ TableName: "payments", Item: key })),
  ],
  [
    "set a schedule outside of its group",
    "hold",
    (as, { roles }) =>
      as
        .client(SchedulerClient)
        .send(new CreateScheduleCommand({ ...schedule(roles), GroupName: "default" })),
  ],
  [
    "delete a one-shot",
    "sweep",
    (as) =>
      as
        .client(SchedulerClient)
        .send(new DeleteScheduleCommand({ Name: "any", GroupName: scheduleGroupName(as.cluster) })),
  ],
  [
    "send to a queue of others",
    "control",
    (as, { launchQueue }) =>
      as
        .client(SQSClient)
        .send(
          new SendMessageCommand({ QueueUrl: launchQueue.replace(/[^/]+$/, "orders"), MessageBody: "{}" }),
        ),
  ],
  [
    "send launches",
    "release",
    (as, { launchQueue }) =>
      as.client(SQSClient).send(new SendMessageCommand({ QueueUrl: launchQueue, MessageBody: "{}" })),
  ],
  ["look at instances", "release", (as) => as.client(EC2Client).send(new DescribeInstancesCommand({}))],
  [
    "terminate an instance",
    "sweep",
    (as) =>
      as.client(EC2Client).send(new TerminateInstancesCommand({ InstanceIds: ["i-0123456789abcdef0"] })),
  ],
  [
    "let a role into the cluster",
    "control",
    (as, { roles }) =>
      as
        .client(EKSClient)
        .send(
          new CreateAccessEntryCommand({
            clusterName: as.cluster,
            principalArn: roles.control,
            kubernetesGroups: ["admins"],
          }),
        ),
  ],
  [
    "make itself an admin",
    "hold",
    (as, { roles }) =>
      as
        .client(EKSClient)
        .send(
          new AssociateAccessPolicyCommand({
            clusterName: as.cluster,
            principalArn: roles.hold,
            ...admin,
            ...everywhere,
          }),
        ),
  ],
  [
    "change what its role may do",
    "cluster-access",
    (as, { roles }) =>
      as
        .client(IAMClient)
        .send(
          new AttachRolePolicyCommand({
            RoleName: nameOf(roles["cluster-access"]),
            PolicyArn: "arn:aws:iam::aws:policy/AdministratorAccess",
          }),
        ),
  ],
  [
    "make another function an admin",
    "cluster-access",
    (as, { roles }) =>
      as
        .client(EKSClient)
        .send(
          new AssociateAccessPolicyCommand({
            clusterName: as.cluster,
            principalArn: roles.hold,
            ...admin,
            ...everywhere,
          }),
        ),
  ],
  [
    "remove the access of others",
    "cluster-access",
    (as) =>
      as
        .client(EKSClient)
        .send(
          new DeleteAccessEntryCommand({
            clusterName: as.cluster,
            principalArn: "arn:aws:iam::000000000000:role/ops",
          }),
        ),
  ],
  [
    "enter another cluster",
    "cluster-access",
    (as, { roles }) =>
      as
        .client(EKSClient)
        .send(new CreateAccessEntryCommand({ clusterName: "legacy", principalArn: roles["cluster-access"] })),
  ],
  [
    "force a release",
    "control",
    (as) =>
      as
        .client(LambdaClient)
        .send(
          new InvokeCommand({
            FunctionName: functionName(as.cluster, "release"),
            Payload: Buffer.from("{}"),
          }),
        ),
  ],
  [
    "invoke the function that can be an admin",
    "control",
    (as) =>
      as
        .client(LambdaClient)
        .send(new InvokeCommand({ FunctionName: functionName(as.cluster, "cluster-access") })),
  ],
  [
    "replace that function's code",
    "sweep",
    (as) =>
      as
        .client(LambdaClient)
        .send(
          new UpdateFunctionCodeCommand({
            FunctionName: functionName(as.cluster, "cluster-access"),
            ZipFile: Buffer.from(""),
          }),
        ),
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

/** A function's role in other hands. */
type Role = Readonly<{ cluster: string; client: <C>(Client: ClientOf<C>) => C }>;

export function misuseCases(open: () => Readonly<{ prod: DeployedCluster; emulator: Emulator }>): void {
  describe("whoever has the credentials of one function", () => {
    const roles: Partial<Record<Part, Role>> = {};
    let account: Account;

    beforeAll(async () => {
      const { prod, emulator } = open();
      const parts = ["hold", "release", "sweep", "control", "cluster-access"] as const;
      const arns = await Promise.all(parts.map(async (part) => [part, await prod.role(part)] as const));
      const variables = await prod.environment("hold");
      account = {
        table: variables[Environment.holdTable] ?? "",
        launchQueue: variables[Environment.launchQueueUrl] ?? "",
        roles: Object.fromEntries(arns) as Account["roles"],
      };
      for (const [part, arn] of arns) roles[part] = await assume(emulator, prod.name, arn);
    });

    it("can do what the function does", async () => {
      const { table } = account;
      const query = {
        KeyConditionExpression: "kind = :kind",
        ExpressionAttributeValues: { ":kind": { S: "record" } },
      };
      await roles.hold?.client(DynamoDBClient).send(new QueryCommand({ TableName: table, ...query }));
      for (const role of Object.values(roles))
        await role.client(EKSClient).send(new DescribeClusterCommand({ name: role.cluster }));
    });

    it.each(refused)("cannot %s (%s)", async (_, as, attempt) => {
      const role = roles[as];
      if (!role) throw new Error(`${as} has no role`);
      await expect(attempt(role, account)).rejects.toThrow(/not authorized to perform/);
    });
  });
}

/** Lets the test into a role that trusts Lambda alone, and keeps its trust as it was. */
async function assume(emulator: Emulator, cluster: string, RoleArn: string): Promise<Role> {
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
  return { cluster, client: (Client) => emulator.client(Client, credentials) };
}
