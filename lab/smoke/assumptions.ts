import {
  ConditionalCheckFailedException,
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import {
  AssociateAccessPolicyCommand,
  CreateAccessEntryCommand,
  DeleteAccessEntryCommand,
  EKSClient,
} from "@aws-sdk/client-eks";
import {
  CreateRoleCommand,
  DeleteRoleCommand,
  DeleteRolePolicyCommand,
  IAMClient,
  PutRolePolicyCommand,
} from "@aws-sdk/client-iam";
import {
  CreateScheduleCommand,
  CreateScheduleGroupCommand,
  DeleteScheduleGroupCommand,
  SchedulerClient,
} from "@aws-sdk/client-scheduler";
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";
import { type Duration, minutes, seconds } from "../../lambda/core/duration.ts";
import { type Check, inSeconds, judged, poll, type Seen, type Smoke, whileNamed } from "./smoke.ts";

const ahead: Duration = minutes(1);

/** What the holder assumes about new roles, one-shots, tables and queues, shown by temporary ones. */
export const assumptionChecks = (smoke: Smoke): readonly Check[] => [
  {
    assumption: "a one-shot a minute ahead fires",
    expected: "within a minute after its time",
    look: () => fire(smoke),
  },
  {
    assumption: "a put whose condition fails returns the item that is there",
    expected: "ConditionalCheckFailedException with the item",
    look: async () => failedCondition(await createTable(smoke), smoke),
  },
  {
    assumption: "SQS moves messages back only from a queue's own dead-letter queue",
    expected: "refused for another queue",
    look: () => moveTask(smoke),
  },
  {
    assumption: "a new role can have an access entry, and the entry a policy",
    expected: "each within 30 s",
    look: () => associate(smoke),
  },
];

async function fire(smoke: Smoke): Promise<Seen> {
  const queue = await createQueue(smoke, "fired");
  const roleArn = await createSender(smoke, queue.arn);
  const scheduler = new SchedulerClient(smoke.aws);
  const group = smoke.prefix;
  smoke.cleanup.add(`schedule group ${group}`, () =>
    scheduler.send(new DeleteScheduleGroupCommand({ Name: group })),
  );
  await scheduler.send(new CreateScheduleGroupCommand({ Name: group }));

  let due = 0;
  const create = () => {
    due = Math.ceil((Date.now() + ahead) / 1000) * 1000;
    const schedule = new CreateScheduleCommand({
      GroupName: group,
      Name: "minute",
      ScheduleExpression: `at(${new Date(due).toISOString().slice(0, 19)})`,
      ScheduleExpressionTimezone: "UTC",
      FlexibleTimeWindow: { Mode: "OFF" },
      ActionAfterCompletion: "DELETE",
      Target: { Arn: queue.arn, RoleArn: roleArn, Input: "{}" },
    });
    return scheduler.send(schedule);
  };
  // Scheduler knows the new role only after some seconds.
  await whileNamed(smoke, "ValidationException", create);
  const firedAt = await poll(smoke, { every: 200, within: ahead + seconds(66) }, async () =>
    (await hasMessage(queue)) ? Date.now() : undefined,
  );
  if (firedAt === undefined) return judged(false, "accepted, and not fired within two minutes");
  const late = firedAt - due;
  // Receiving takes a moment itself.
  return judged(late >= -seconds(1) && late <= seconds(65), `fired ${inSeconds(late)} after its time`);
}

async function hasMessage({ sqs, url: QueueUrl }: Awaited<ReturnType<typeof createQueue>>): Promise<boolean> {
  const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 1 }));
  return Messages.length > 0;
}

/** The role with which Scheduler sends to this queue. */
async function createSender(smoke: Smoke, queueArn: string): Promise<string> {
  const { iam, name, arn } = await createRole(smoke, "scheduler", {
    Principal: { Service: "scheduler.amazonaws.com" },
    Condition: { StringEquals: { "aws:SourceAccount": smoke.account } },
  });
  const policy = { RoleName: name, PolicyName: "send" };
  smoke.cleanup.add(`policy of ${name}`, () => iam.send(new DeleteRolePolicyCommand(policy)));
  const PolicyDocument = policyOf({ Action: "sqs:SendMessage", Resource: queueArn });
  await iam.send(new PutRolePolicyCommand({ ...policy, PolicyDocument }));
  return arn;
}

/** How long a new role and a new access entry are unknown; the holder waits two minutes for each. */
async function associate(smoke: Smoke): Promise<Seen> {
  const eks = new EKSClient(smoke.aws);
  const trust = { Effect: "Deny", Principal: { AWS: smoke.account } };
  const { arn: principalArn } = await createRole(smoke, "entry", trust);
  const entry = { clusterName: smoke.cluster, principalArn };
  smoke.cleanup.add(`access entry of ${principalArn}`, () => eks.send(new DeleteAccessEntryCommand(entry)));
  const began = Date.now();
  await whileNamed(smoke, "InvalidParameterException", () =>
    eks.send(new CreateAccessEntryCommand({ ...entry, type: "STANDARD" })),
  );
  const created = Date.now();
  // The role cannot be assumed, and the policy allows reads in one namespace only.
  const policyArn = `arn:${smoke.partition}:eks::aws:cluster-access-policy/AmazonEKSViewPolicy`;
  const accessScope = { type: "namespace" as const, namespaces: ["default"] };
  await whileNamed(smoke, "ResourceNotFoundException", () =>
    eks.send(new AssociateAccessPolicyCommand({ ...entry, policyArn, accessScope })),
  );
  const [toCreate, toAssociate] = [created - began, Date.now() - created];
  const seen = `entry after ${inSeconds(toCreate)}, policy ${inSeconds(toAssociate)} later`;
  return judged(toCreate <= seconds(30) && toAssociate <= seconds(30), seen);
}

async function createTable(smoke: Smoke): Promise<DynamoDBClient> {
  const client = new DynamoDBClient(smoke.aws);
  const TableName = smoke.prefix;
  await client.send(
    new CreateTableCommand({
      TableName,
      AttributeDefinitions: [{ AttributeName: "name", AttributeType: "S" }],
      KeySchema: [{ AttributeName: "name", KeyType: "HASH" }],
      BillingMode: "PAY_PER_REQUEST",
    }),
  );
  smoke.cleanup.add(`table ${TableName}`, () => client.send(new DeleteTableCommand({ TableName })));
  const isActive = await poll(smoke, { every: seconds(1), within: minutes(2) }, async () => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    return Table?.TableStatus === "ACTIVE" ? true : undefined;
  });
  if (!isActive) throw new Error(`table ${TableName} is not active after two minutes`);
  return client;
}

const Item = { name: { S: "smoke" } };

async function failedCondition(client: DynamoDBClient, { prefix: TableName }: Smoke): Promise<Seen> {
  await client.send(new PutItemCommand({ TableName, Item }));
  try {
    await client.send(
      new PutItemCommand({
        TableName,
        Item,
        ConditionExpression: "attribute_not_exists(#name)",
        ExpressionAttributeNames: { "#name": "name" },
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      }),
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    const isReturned = error.Item?.name?.S === "smoke";
    return judged(isReturned, isReturned ? "with the item" : "without the item");
  }
  return judged(false, "the put was accepted");
}

async function moveTask(smoke: Smoke): Promise<Seen> {
  const { sqs, arn: SourceArn } = await createQueue(smoke, "letters");
  return sqs.send(new StartMessageMoveTaskCommand({ SourceArn })).then(
    () => judged(false, "accepted"),
    (error: Error) => judged(true, `refused: ${error.message}`),
  );
}

/** A policy document of one statement. */
export const policyOf = (statement: object): string =>
  JSON.stringify({ Version: "2012-10-17", Statement: [{ Effect: "Allow", ...statement }] });

/** A temporary role that this may assume. */
export async function createRole(smoke: Smoke, suffix: string, trust: object) {
  const iam = new IAMClient(smoke.aws);
  const RoleName = `${smoke.prefix}-${suffix}`;
  smoke.cleanup.add(`role ${RoleName}`, () => iam.send(new DeleteRoleCommand({ RoleName })));
  const AssumeRolePolicyDocument = policyOf({ Action: "sts:AssumeRole", ...trust });
  const { Role } = await iam.send(new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument }));
  return { iam, name: RoleName, arn: Role?.Arn ?? "" };
}

/** A temporary queue. */
export async function createQueue(smoke: Smoke, suffix: string) {
  const sqs = new SQSClient(smoke.aws);
  const QueueName = `${smoke.prefix}-${suffix}`;
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName }));
  smoke.cleanup.add(`queue ${QueueName}`, () => sqs.send(new DeleteQueueCommand({ QueueUrl })));
  const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["QueueArn"] });
  const { Attributes } = await sqs.send(asked);
  return { sqs, url: QueueUrl, arn: Attributes?.QueueArn ?? "" };
}
