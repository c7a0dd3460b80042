import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { expect, it } from "vitest";
import { clientDefaults } from "../../lambda/adapters/aws-clients.ts";
import { DynamodbHolds } from "../../lambda/adapters/dynamodb-holds.ts";
import { TryAgainError } from "../../lambda/core/errors.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import { fakeAws } from "../support/fake-aws.ts";

it("does not wait for an answer for ever", async () => {
  const aws = await fakeAws(() => new Promise(() => {}));
  // The deployed defaults, in hundredths of their time.
  const { connectionTimeout, requestTimeout } = clientDefaults.requestHandler;
  const requestHandler = {
    ...clientDefaults.requestHandler,
    connectionTimeout: connectionTimeout / 100,
    requestTimeout: requestTimeout / 100,
  };
  const client = new DynamoDBClient({ ...clientDefaults, ...aws.client, requestHandler });
  await expect(new DynamodbHolds(client, "holds").find(wholeCluster)).rejects.toThrow(TryAgainError);
  expect(aws.requests).toHaveLength(clientDefaults.maxAttempts);
  await aws.close();
});

it("leaves the retries of one call less time than a function has", () => {
  const { maxAttempts, requestHandler } = clientDefaults;
  expect(maxAttempts * (requestHandler.connectionTimeout + requestHandler.requestTimeout)).toBeLessThan(
    30_000,
  );
});
