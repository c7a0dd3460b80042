import { randomUUID } from "node:crypto";
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DynamoDBClient,
  type DynamoDBClientConfig,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import { DynamodbTable } from "../../lambda/aws/dynamodb-table.ts";
import type { Clock } from "../../lambda/core/ports.ts";
import { HoldTable, type ItemTable } from "../../lambda/record/item-table.ts";
import { StoredHolds } from "../../lambda/record/stored-holds.ts";
import { StoredJournal } from "../../lambda/record/stored-journal.ts";
import type { OpenHolds } from "./holds.ts";

const schema: Omit<CreateTableCommandInput, "TableName"> = {
  KeySchema: [
    { AttributeName: HoldTable.partitionKey, KeyType: "HASH" },
    { AttributeName: HoldTable.sortKey, KeyType: "RANGE" },
  ],
  AttributeDefinitions: [
    { AttributeName: HoldTable.partitionKey, AttributeType: "S" },
    { AttributeName: HoldTable.sortKey, AttributeType: "S" },
  ],
  BillingMode: "PAY_PER_REQUEST",
};

/** A table of its own in the DynamoDB that this configuration reaches. */
export async function dynamodbStore(config: DynamoDBClientConfig, clock: Clock): Promise<OpenHolds> {
  const table = await createHoldTable(config);
  const client = new DynamoDBClient(config);
  return { ...storeOf(new DynamodbTable(client, table), clock), close: async () => client.destroy() };
}

export const storeOf = (table: ItemTable, clock: Clock): Omit<OpenHolds, "close"> => ({
  table,
  holds: new StoredHolds(table, clock),
  journal: new StoredJournal(table, clock),
});

/** Creates a table as the stack does, and returns its name. */
export async function createHoldTable(config: DynamoDBClientConfig): Promise<string> {
  const TableName = `holds-${randomUUID()}`;
  const client = new DynamoDBClient(config);
  await client.send(new CreateTableCommand({ ...schema, TableName }));
  await waitUntilTableExists({ client, maxWaitTime: 20, minDelay: 0.1, maxDelay: 1 }, { TableName });
  client.destroy();
  return TableName;
}
