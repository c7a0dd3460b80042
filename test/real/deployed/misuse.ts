import { DeleteItemCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EC2Client, TerminateInstancesCommand } from "@aws-sdk/client-ec2";
import { AssociateAccessPolicyCommand, DescribeClusterCommand, EKSClient } from "@aws-sdk/client-eks";
import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { IAMClient, UpdateAssumeRolePolicyCommand } from "@aws-sdk/client-iam";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { CreateScheduleCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { AssumeRoleCommand, STSClient } from "@aws-sdk/client-sts";
import { describe, expect, it } from "vitest";
import { awsAccount } from "../../../cli/doctor/aws/aws-account.ts";
import { functionName, type Part } from "../../../infra/names.ts";
import { Environment } from "../../../lambda/environment.ts";
import { probeDetailType, probeSource } from "../../../lambda/handlers/event-sources.ts";
import { type ClientOf, type Emulator, region } from "../emulator/emulator.ts";
import { until } from "../engines/processes.ts";
import type { DeployedCluster } from "./cluster.ts";

/** A function's role, used by another caller. */
type Role = <C>(Client: ClientOf<C>) => C;
type Attempt = (as: Role, prod: DeployedCluster) => Promise<unknown>;

const makeAdmin =
  (part: Part): Attempt =>
  async (as, prod) =>
    as(EKSClient).send(
      new AssociateAccessPolicyCommand({
        clusterName: prod.name,
        principalArn: await prod.role(part),
        policyArn: "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy",
        accessScope: { type: "cluster" },
      }),
    );
const findCluster: Attempt = (as, { name }) => as(EKSClient).send(new DescribeClusterCommand({ name }));
const invoke =
  (part: Part): Attempt =>
  (as, { name }) =>
    as(LambdaClient).send(new InvokeCommand({ FunctionName: functionName(name, part) }));

/** One of each kind of what could be tried; `test/infra/rights.test.ts` states every permission. */
const refused: readonly (readonly [what: string, as: Part, attempt: Attempt])[] = [
  [
    "delete a record",
    "hold",
    async (as, prod) => {
      const TableName = (await prod.environment("hold"))[Environment.holdTable];
      const Key = { kind: { S: "record" }, name: { S: "cluster" } };
      return as(DynamoDBClient).send(new DeleteItemCommand({ TableName, Key }));
    },
  ],
  [
    "send to another queue",
    "control",
    async (as, prod) => {
      const launches = (await prod.environment("hold"))[Environment.launchQueueUrl] ?? "";
      const QueueUrl = launches.replace(/[^/]+$/, "orders");
      return as(SQSClient).send(new SendMessageCommand({ QueueUrl, MessageBody: "{}" }));
    },
  ],
  [
    "terminate an instance",
    "sweep",
    (as) => as(EC2Client).send(new TerminateInstancesCommand({ InstanceIds: ["i-0123456789abcdef0"] })),
  ],
  ["make itself an admin", "hold", makeAdmin("hold")],
  ["invoke the function that can be an admin", "control", invoke("cluster-access")],
  // The function itself may do these two.
  ["find the cluster from outside of the function", "cluster-access", findCluster],
  ["be an admin outside of the function", "cluster-access", makeAdmin("cluster-access")],
];

/** IAM on the deployed stack: the role of each function, used by another caller. */
export function misuseCases(open: () => Readonly<{ prod: DeployedCluster; emulator: Emulator }>): void {
  describe("a caller with the credentials of a function", () => {
    it("can find the cluster, as hold does", async () => {
      const { prod, emulator } = open();
      const found = await findCluster(await assume(emulator, await prod.role("hold")), prod);
      expect(found).toMatchObject({ cluster: { name: prod.name } });
    });

    it.each(refused)("cannot %s (%s)", async (_, as, attempt) => {
      const { prod, emulator } = open();
      const role = await assume(emulator, await prod.role(as));
      await expect(attempt(role, prod)).rejects.toThrow(/not authorized to perform/);
    });

    it("cannot force a release by a schedule, which would outlive the credentials", async () => {
      const { prod, emulator } = open();
      const node = await prod.join("i-0fedcba9876543211");
      await prod.control({ do: "hold", for: "10m", reason: "schedules" });
      await prod.untilMarked([node]);
      const scheduler = (await assume(emulator, await prod.role("hold")))(SchedulerClient);
      const env = await prod.environment("hold");
      const alias = env[Environment.releaseFunctionArn] ?? "";
      const soon = new Date(Date.now() + 2_000).toISOString().slice(0, 19);

      for (const [Name, Arn] of [
        ["forged-for-the-function", alias.replace(/:schedule$/, "")],
        ["forged-for-the-alias", alias],
      ])
        await scheduler.send(
          new CreateScheduleCommand({
            GroupName: env[Environment.scheduleGroup],
            Name,
            ScheduleExpression: `at(${soon})`,
            FlexibleTimeWindow: { Mode: "OFF" },
            ActionAfterCompletion: "DELETE",
            Target: { Arn, RoleArn: env[Environment.scheduleRoleArn], Input: '{"force":true}' },
          }),
        );

      await prod.untilLogged("release", /a schedule cannot force a release/);
      await until("both schedules to have fired", async () => (await prod.schedules("forged")).length === 0);
      expect(await prod.marks()).toHaveProperty(node);
      await prod.releaseAll();
    });

    it("cannot have a probe delivered without the key of the rule", async () => {
      const { prod, emulator } = open();
      const detail = { id: "forged", cluster: prod.name, sentAt: new Date().toISOString() };
      const forged = [detail, { ...detail, key: "guessed" }].map((one) => ({
        Source: probeSource,
        DetailType: probeDetailType,
        Detail: JSON.stringify(one),
      }));
      await emulator.client(EventBridgeClient).send(new PutEventsCommand({ Entries: forged }));

      const credentials = { accessKeyId: "test", secretAccessKey: "test" };
      const asRoot = { region, endpoint: emulator.endpoint, credentials };
      const account = awsAccount(asRoot, prod.name);
      const url = (await prod.environment("hold"))[Environment.launchQueueUrl] ?? "";
      const rule = await account.ruleTo((await account.queue(url))?.arn ?? "");
      if (!rule) throw new Error("no rule leads to the launch queue");
      await account.putProbe("ours", new Date(), rule.pattern);
      await prod.untilLogged("hold", /"probe":"ours"/);
      expect(await prod.logs("hold")).not.toContainEqual(expect.stringContaining('"probe":"forged"'));
    });
  });
}

/** Lets the test into a role that trusts Lambda alone, and keeps its trust as it was. */
async function assume(emulator: Emulator, RoleArn: string): Promise<Role> {
  const RoleName = RoleArn.split("/").at(-1) ?? "";
  const trust = async (Principal: object) => {
    const Statement = [{ Effect: "Allow", Principal, Action: "sts:AssumeRole" }];
    const PolicyDocument = JSON.stringify({ Version: "2012-10-17", Statement });
    const command = new UpdateAssumeRolePolicyCommand({ RoleName, PolicyDocument });
    await emulator.client(IAMClient).send(command);
  };
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
