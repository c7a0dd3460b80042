import { afterAll, beforeAll, describe } from "vitest";
import { dynamodbStore } from "../../contracts/dynamodb-store.ts";
import { holdsContract } from "../../contracts/holds.ts";
import { Emulator } from "../emulator/emulator.ts";
import { startDynamoDbLocal } from "../engines/dynamodb-local.ts";

// Suites on the emulator use its table, so it must behave as DynamoDB Local does.
describe.each([
  ["DynamoDB Local", startDynamoDbLocal],
  ["the emulator's DynamoDB", () => Emulator.start()],
])("holds kept in %s", (_, start) => {
  let database: Readonly<{ endpoint: string; stop(): Promise<void> }>;
  beforeAll(async () => {
    database = await start();
  });
  afterAll(() => database?.stop());

  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  holdsContract((clock) =>
    dynamodbStore({ endpoint: database.endpoint, region: "us-east-1", credentials }, clock),
  );
});
