import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
  ResourceInUseException,
} from "@aws-sdk/client-dynamodb";
import { ClassicLevel } from "classic-level";
import dynalite from "dynalite";
import { HoldTable } from "../../lambda/aws/hold-table.ts";
import { BrokenSetupError } from "../../lambda/core/errors.ts";

/** A DynamoDB in this process, with the holder's table in it. */
export type EmbeddedDatabase = Readonly<{
  /** What a DynamoDB client needs to reach it. */
  client: DynamoDBClientConfig & Readonly<{ endpoint: string }>;
  table: string;
  close: () => Promise<void>;
}>;

const table = "holds";
/** The table as DynamoDB is asked to make it. */
export const tableSchema: Omit<CreateTableCommandInput, "TableName"> = {
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

/** Opens the database in this folder, or in memory without one; the table is made where there is none. */
export async function openEmbeddedDatabase(folder?: string): Promise<EmbeddedDatabase> {
  if (folder !== undefined) await tryOpening(folder);
  const database = await serve(folder);
  if (await hasTable(database.client)) return database;
  await database.close();
  // Killed while it made its table: it stays "being made" for ever, and nothing was ever written to it.
  if (folder !== undefined) await ClassicLevel.destroy(folder);
  return openEmbeddedDatabase(folder);
}

// dynalite throws from a timer when it cannot open its files, and nobody could catch that.
async function tryOpening(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const level = new ClassicLevel(folder);
  try {
    await level.open();
    await level.close();
  } catch (cause) {
    throw new BrokenSetupError(`Cannot open the database in ${folder}: ${reasonOf(cause)}`, { cause });
  }
}

function reasonOf(error: unknown): string {
  const { cause } = error instanceof Error ? error : {};
  if (!(cause instanceof Error)) return String(error);
  return "code" in cause && cause.code === "LEVEL_LOCKED" ? "another holder is using it" : cause.message;
}

async function serve(folder: string | undefined): Promise<EmbeddedDatabase> {
  const server = dynalite({ createTableMs: 0, ...(folder !== undefined && { path: folder }) });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const credentials = { accessKeyId: "embedded", secretAccessKey: "embedded" };
  const client = { endpoint: `http://127.0.0.1:${port}`, region: "local", credentials };
  return { client, table, close: () => close(server) };
}

/** Makes the table if need be; false when it does not become usable. */
async function hasTable(config: DynamoDBClientConfig): Promise<boolean> {
  const client = new DynamoDBClient(config);
  try {
    await client
      .send(new CreateTableCommand({ ...tableSchema, TableName: table }))
      .catch((error: unknown) => {
        if (!(error instanceof ResourceInUseException)) throw error;
      });
    for (let tries = 0; tries < 100; tries += 1) {
      const { Table } = await client.send(new DescribeTableCommand({ TableName: table }));
      if (Table?.TableStatus === "ACTIVE") return true;
      await pause(10);
    }
    return false;
  } finally {
    client.destroy();
  }
}

function close(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
    server.closeIdleConnections();
  });
}
