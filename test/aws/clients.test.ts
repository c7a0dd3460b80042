import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { expect, it, onTestFinished } from "vitest";
import { clientDefaults } from "../../lambda/aws/clients.ts";
import { DynamodbTable } from "../../lambda/aws/dynamodb-table.ts";
import { TryAgainError } from "../../lambda/core/errors.ts";
import { errorOf } from "../fuzz/fuzz.ts";
import { type AwsAnswer, fakeAws } from "../support/fake-aws.ts";

/** The deployed defaults, but a hundredth of the time for an answer. */
const { requestHandler } = clientDefaults;
const hurried = {
  ...clientDefaults,
  requestHandler: {
    ...requestHandler,
    requestTimeout: requestHandler.requestTimeout / 100,
    socketTimeout: requestHandler.socketTimeout / 100,
  },
};

it.each(["an answer", "the rest of an answer"])("stops waiting for %s", async (what) => {
  const never = new Promise<AwsAnswer>(() => {});
  const headers = { "content-length": "100" };
  const aws = await fakeAws(() => (what === "an answer" ? never : { headers, body: "half of it" }));
  onTestFinished(aws.close);
  const client = new DynamoDBClient({ ...hurried, ...aws.client });

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
