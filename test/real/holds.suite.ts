import { afterAll, beforeAll, describe } from "vitest";
import { holdsContract } from "../contracts/holds.ts";
import { dynamodbStore } from "../support/dynamodb-store.ts";
import { startDynamoDbLocal } from "./dynamodb-local.ts";

describe("holds kept in DynamoDB Local", () => {
  let database: Awaited<ReturnType<typeof startDynamoDbLocal>>;
  beforeAll(async () => {
    database = await startDynamoDbLocal();
  });
  afterAll(() => database?.stop());

  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  holdsContract((clock) =>
    dynamodbStore({ endpoint: database.endpoint, region: "eu-west-1", credentials }, clock),
  );
});
