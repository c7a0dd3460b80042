import {
  ConditionalCheckFailedException,
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import { StartMessageMoveTaskCommand } from "@aws-sdk/client-sqs";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import { createQueue } from "./resources.ts";
import { type Check, judged, noted, poll, type Seen, type Smoke } from "./smoke.ts";

/** What DynamoDB and SQS answer where their documents are not precise. */
export function storeChecks(smoke: Smoke): readonly Check[] {
  let table: Promise<DynamoDBClient> | undefined;
  const opened = () => {
    table ??= createTable(smoke);
    return table;
  };
  return [
    {
      assumption: "a put whose condition fails returns the item that is there",
      expected: "ConditionalCheckFailedException with the item",
      look: async () => failedCondition(await opened(), smoke),
    },
    {
      assumption: "a put without a condition may ask for that item",
      expected: "anything: the holder asks only with a condition",
      look: async () => withoutCondition(await opened(), smoke),
    },
    {
      assumption: "SQS moves messages back only from a queue's own dead-letter queue",
      expected: "refused for another queue",
      look: () => moveTask(smoke),
    },
  ];
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

async function withoutCondition(client: DynamoDBClient, { prefix: TableName }: Smoke): Promise<Seen> {
  const command = new PutItemCommand({ TableName, Item, ReturnValuesOnConditionCheckFailure: "ALL_OLD" });
  return client.send(command).then(
    () => noted("accepted"),
    (error: Error) => noted(`refused: ${error.message}`),
  );
}

async function moveTask(smoke: Smoke): Promise<Seen> {
  const { sqs, arn: SourceArn } = await createQueue(smoke, "letters");
  return sqs.send(new StartMessageMoveTaskCommand({ SourceArn })).then(
    () => judged(false, "accepted"),
    (error: Error) => judged(true, `refused: ${error.message}`),
  );
}
