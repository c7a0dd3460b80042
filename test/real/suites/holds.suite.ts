import { afterAll, beforeAll, describe } from "vitest";
import { holdsContract } from "../../contracts/holds.ts";
import { dynamodbStore } from "../../support/dynamodb-store.ts";
import { Emulator } from "../emulator/emulator.ts";
import { startDynamoDbLocal } from "../engines/dynamodb-local.ts";

// The emulator's is no more than a stand-in, but what is proven on it must not be owed to its being different.
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
