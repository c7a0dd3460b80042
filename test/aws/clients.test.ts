import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { expect, it, onTestFinished } from "vitest";
import { clientDefaults } from "../../lambda/aws/clients.ts";
import { DynamodbTable } from "../../lambda/aws/dynamodb-table.ts";
import { TryAgainError } from "../../lambda/core/errors.ts";
import { errorOf } from "../fuzz/fuzz.ts";
import { fakeAws } from "../support/fake-aws.ts";

it("stops waiting for an answer", async () => {
  const aws = await fakeAws(() => new Promise(() => {}));
  onTestFinished(aws.close);
  // The deployed defaults, but a hundredth of the time for an answer.
  const { requestHandler } = clientDefaults;
  const hurried = { ...requestHandler, requestTimeout: requestHandler.requestTimeout / 100 };
  const client = new DynamoDBClient({ ...clientDefaults, ...aws.client, requestHandler: hurried });

  const error = await errorOf(new DynamodbTable(client, "holds").find("record", "cluster"));

  expect(error).toBeInstanceOf(TryAgainError);
  // Counted by the client: on a busy machine it gives up before the request has left.
  expect(error).toHaveProperty("cause.$metadata.attempts", clientDefaults.maxAttempts);
});

it("leaves the retries of one call less time than a function has", () => {
  const { maxAttempts, requestHandler } = clientDefaults;
  expect(maxAttempts * (requestHandler.connectionTimeout + requestHandler.requestTimeout)).toBeLessThan(
    30_000,
  );
});
