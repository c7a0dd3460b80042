import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DynamodbTable } from "../../../lambda/aws/dynamodb-table.ts";
import { systemClock } from "../../../lambda/system-clock.ts";
import { createHoldTable, dynamodbStore, storeOf } from "../../contracts/dynamodb-store.ts";
import { holdsContract } from "../../contracts/holds.ts";
import { aRecord } from "../../support/builders.ts";
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
  const config = () => ({ endpoint: database.endpoint, region: "us-east-1", credentials });
  holdsContract((clock) => dynamodbStore(config(), clock));

  it("a write whose answer is lost is done once: its retry finds it", async () => {
    const client = new DynamoDBClient(config());
    let answers = 0;
    client.middlewareStack.add(
      (next) => async (args) => {
        const answer = await next(args);
        if (++answers > 1) return answer;
        throw Object.assign(new Error("the answer is lost"), { name: "TimeoutError" });
      },
      { step: "deserialize" },
    );
    const table = new DynamodbTable(client, await createHoldTable(config()));
    const { holds } = storeOf(table, systemClock);

    expect(await holds.write(aRecord())).toBe(true);
    expect(answers).toBe(2);
    expect(await holds.find("cluster")).toMatchObject({ version: 1 });
    client.destroy();
  });
});
