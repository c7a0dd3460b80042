import { randomUUID } from "node:crypto";
import {
  CreateTableCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import { DynamodbHolds } from "../../lambda/aws/dynamodb-holds.ts";
import { DynamodbJournal } from "../../lambda/aws/dynamodb-journal.ts";
import type { Clock } from "../../lambda/core/ports.ts";
import { openEmbeddedDatabase, tableSchema } from "../../local/run/embedded-database.ts";
import type { OpenHolds } from "../contracts/holds.ts";

/** An embedded database of its own. */
export async function embeddedStore(clock: Clock): Promise<OpenHolds> {
  const database = await openEmbeddedDatabase();
  const store = storeOf(new DynamoDBClient(database.client), database.table, clock);
  const close = async () => {
    await store.close();
    await database.close();
  };
  return { ...store, close };
}

/** A table of its own in the DynamoDB that this configuration reaches. */
export async function dynamodbStore(config: DynamoDBClientConfig, clock: Clock): Promise<OpenHolds> {
  const TableName = `holds-${randomUUID()}`;
  // Making a table takes its time, however soon others are given up.
  const { requestHandler: _, ...patient } = config;
  const maker = new DynamoDBClient(patient);
  await maker.send(new CreateTableCommand({ ...tableSchema, TableName }));
  await waitUntilTableExists({ client: maker, maxWaitTime: 20, minDelay: 0.1, maxDelay: 1 }, { TableName });
  maker.destroy();
  return storeOf(new DynamoDBClient(config), TableName, clock);
}

const storeOf = (client: DynamoDBClient, table: string, clock: Clock): OpenHolds => ({
  holds: new DynamodbHolds(client, table),
  journal: new DynamodbJournal(client, table, clock),
  close: async () => client.destroy(),
});
