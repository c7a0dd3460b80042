import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterEach, describe, expect, it } from "vitest";
import { DynamodbTable, toAttributes } from "../../lambda/aws/dynamodb-table.ts";
import { BrokenSetupError, TryAgainError } from "../../lambda/core/errors.ts";
import { trialHoldId } from "../../lambda/core/marks/hold-id.ts";
import { mostWatched } from "../../lambda/core/observed.ts";
import { mostPauses, mostTimes } from "../../lambda/core/pauses.ts";
import { noFigures } from "../../lambda/core/record.ts";
import { mostRequests } from "../../lambda/core/requests.ts";
import { poolScope, wholeCluster } from "../../lambda/core/scope.ts";
import { StoredHolds } from "../../lambda/record/stored-holds.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";
import { fullRecord } from "../contracts/full-record.ts";
import { errorOf } from "../fuzz/fuzz.ts";
import { aHold, aRecord, aRequest } from "../support/builders.ts";
import { type AwsAnswer, type FakeAws, fakeAws, json, jsonError } from "../support/fake-aws.ts";

let aws: FakeAws;
afterEach(() => aws.close());

async function holdsOn(answer: (count: number) => AwsAnswer | "hang up", maxAttempts = 1) {
  aws = await fakeAws((_, count) => answer(count));
  const client = new DynamoDBClient({ ...aws.client, maxAttempts });
  return new StoredHolds(new DynamodbTable(client, "the-table"), new VirtualClock());
}
const sent = () => aws.requests.map(({ body }) => JSON.parse(body));
const keys = { kind: { S: "record" }, name: { S: "cluster" } };

describe("a request to the table", () => {
  it("reads with strong consistency, all records in the order of their names", async () => {
    const holds = await holdsOn(() => json({ Items: [] }));
    await holds.find(wholeCluster);
    await holds.all();
    const about = { TableName: "the-table", ConsistentRead: true };
    expect(sent()).toMatchObject([
      { ...about, Key: keys },
      { ...about, KeyConditionExpression: "#kind = :kind", ScanIndexForward: true },
    ]);
  });

  it("gives back every field as it was written", async () => {
    const holds = await holdsOn(() => json({ Item: sent()[0].Item }));
    await holds.write(fullRecord);
    expect(await holds.find(fullRecord.scope)).toEqual({ ...fullRecord, version: 1 });
  });

  it("reads history from its end, no more at once than is asked for", async () => {
    await holdsOn(() => json({ Items: [] }));
    const table = new DynamodbTable(new DynamoDBClient(aws.client), "the-table");
    for await (const _ of table.all("history", { backwards: true, pageSize: 3 }));
    expect(sent()).toMatchObject([{ ScanIndexForward: false, Limit: 3 }]);
  });

  it("follows every page", async () => {
    const item = (pool: string) => ({ ...keys, name: { S: poolScope(pool) }, version: { N: "1" } });
    const holds = await holdsOn((count) =>
      count === 1 ? json({ Items: [item("a")], LastEvaluatedKey: keys }) : json({ Items: [item("b")] }),
    );
    expect((await holds.all()).records.map(({ scope }) => scope)).toEqual(["nodepool/a", "nodepool/b"]);
    expect(sent()[1]).toMatchObject({ ExclusiveStartKey: keys });
  });

  it("ends where a page names one that was read as its next", async () => {
    const page = (name: string) => json({ Items: [], LastEvaluatedKey: { ...keys, name: { S: name } } });
    const holds = await holdsOn((count) => (count < 9 ? page(String(count % 2)) : json({})));
    expect(await errorOf(holds.all())).toMatchObject({ message: expect.stringMatching(/same next page/) });
    expect(aws.requests).toHaveLength(3);
  });

  it("writes a record with everything at its most, which an item has room for", async () => {
    const longest = "\u{1F600}".repeat(250);
    const many = <T>(count: number, value: T) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`${n}-`.padEnd(63, "x"), value]));
    const requests = Array.from({ length: mostRequests }, () => aRequest({ name: longest, reason: longest }));
    const because = `released by hand: ${requests.map(({ name }) => name).join(", ")}`;
    const begun = (n: number) => new Date(noon.getTime() + Math.min(n, mostTimes - 1));
    const open = Array.from({ length: mostPauses }, (_, n) => ({ since: begun(n), level: n, pods: 1_000 }));
    const ended = { at: noon, because };
    const watched = { nodes: many(mostWatched, { pods: 1_000 }), gone: Array(mostWatched).fill(noon) };
    const account = {
      ...{ at: noon, nodes: 5_000, pauses: { open, gone: 0, learned: [] } },
      ...{ wasted: many(200, 86_400_000), letGo: many(200, noon), leftAlone: many(200, noon) },
    };
    const figures = { ...noFigures, requests: Array<string>(10).fill(longest) };
    const holds = await holdsOn(() => json({}));
    const hold = aHold({ ended, watched });
    await holds.write(aRecord({ hold, requests, seen: many(500, noon), account, figures }));
    expect(Buffer.byteLength(aws.requests[0]?.body ?? "")).toBeLessThan(409_600);
  });

  it("names its condition with each write", async () => {
    const holds = await holdsOn(() => json({}));
    await holds.write(aRecord({ hold: aHold() }));
    await holds.write(aRecord({ version: 7 }));
    expect(sent()).toMatchObject([
      {
        ConditionExpression:
          "attribute_not_exists(#name) OR NOT attribute_type(#version, :number) OR #version < :first",
        ExpressionAttributeNames: { "#name": "name", "#version": "version" },
        ExpressionAttributeValues: { ":number": { S: "N" }, ":first": { N: "1" } },
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
        Item: {
          ...keys,
          version: { N: "1" },
          hold: { M: { startedAt: { S: "2026-11-21T12:00:00.000Z" } } },
          requests: { L: [] },
        },
      },
      {
        ConditionExpression: "#version = :version",
        ExpressionAttributeValues: { ":version": { N: "7" } },
        Item: { ...keys, version: { N: "8" } },
      },
    ]);
  });

  it("requests no values of a failed condition when it has no condition", async () => {
    aws = await fakeAws(() => json({}));
    const database = new DynamoDBClient(aws.client);
    await new DynamodbTable(database, "the-table").put("sweep", "last", { at: noon });
    expect(sent()[0]).not.toHaveProperty("ConditionExpression");
    expect(sent()[0]).not.toHaveProperty("ReturnValuesOnConditionCheckFailure");
  });
});

describe("a write whose condition fails", () => {
  const refusal = (Item: unknown): AwsAnswer => ({
    status: 400,
    body: JSON.stringify({ __type: "ConditionalCheckFailedException", message: "no", Item }),
  });

  it("succeeds when the retry finds its own first write, whose answer was lost", async () => {
    const holds = await holdsOn((count) => (count === 1 ? "hang up" : refusal(sent()[0].Item)), 2);
    expect(await holds.write(aRecord({ hold: aHold() }))).toBe(true);
  });

  it("fails when another function wrote meanwhile, even the same values", async () => {
    const other = { ...keys, version: { N: "1" } };
    const retried = await holdsOn((count) => (count === 1 ? "hang up" : refusal(other)), 2);
    expect(await retried.write(aRecord({ hold: aHold() }))).toBe(false);
    await aws.close();

    const atOnce = await holdsOn(() => refusal(sent()[0].Item));
    expect(await atOnce.write(aRecord({ hold: aHold() }))).toBe(false);
  });
});

describe("errors", () => {
  it("reports throttling after all retries as `try again`, with its cause", async () => {
    const holds = await holdsOn(() => jsonError("ProvisionedThroughputExceededException", "slow down"), 2);
    for (const read of [() => holds.find(wholeCluster), () => holds.all()]) {
      const error = await errorOf(read());
      expect(error).toBeInstanceOf(TryAgainError);
      expect(error).toMatchObject({
        message: "Cannot read table the-table now: slow down",
        cause: { message: "slow down" },
      });
    }
    expect(aws.requests).toHaveLength(4);
  });

  it.each<[string, AwsAnswer | "hang up"]>([
    ["an answer that is no answer", { status: 503, body: "<html>" }],
    ["a broken connection", "hang up"],
  ])("reads %s as `try again`", async (_, answer) => {
    const holds = await holdsOn(() => answer);
    await expect(holds.write(aRecord())).rejects.toBeInstanceOf(TryAgainError);
  });

  it("reads a missing right as a broken set-up and names the table", async () => {
    const message = "is not authorized to perform: dynamodb:PutItem";
    const holds = await holdsOn(() => jsonError("AccessDeniedException", message), 3);
    const error = await holds.write(aRecord()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(BrokenSetupError);
    expect(error).toMatchObject({ message: expect.stringMatching(/^Cannot write table the-table: .*role/) });
    expect(aws.requests).toHaveLength(1);
  });

  const holdOf = (id: string) => ({ hold: { M: toAttributes({ ...aHold(), id }) } });
  it.each([
    ["version", { version: { S: "one" } }, /cluster: version must be a whole number, not "one"/],
    [
      "a type that is never written",
      { quiet: { M: { because: { SS: ["a"] } } } },
      /quiet.because must be text, not null/,
    ],
    ["until", { quiet: { M: { until: { S: "noon" } } } }, /quiet.until must be a time like/],
    ["a request", { requests: { L: [{ S: "x" }] } }, /requests\[0\] must be an object/],
    ["the date in the id", holdOf(trialHoldId), /hold.id must be the id of a hold/],
    [
      "hold",
      { hold: { M: { id: { S: holdId(1) } } } },
      /hold.startedAt must be a time like .*, but is missing/,
    ],
  ])("names the table, the item and the field when %s is invalid", async (_, broken, message) => {
    const holds = await holdsOn(() => json({ Item: { ...keys, version: { N: "1" }, ...broken } }));
    const { unreadable } = (await holds.find(wholeCluster)) ?? {};
    expect(unreadable).toMatch(message);
    expect(unreadable).toContain("Table the-table, record cluster: ");
  });

  it("fails for a record whose name no scope has, and reports how to repair it", async () => {
    const holds = await holdsOn(() => json({ Item: { ...keys, name: { S: "pool" } } }));
    const wrong = /record pool: .*name must be "cluster" or "nodepool\/NAME".* Delete this item\.$/;
    await expect(holds.find(wholeCluster)).rejects.toThrow(wrong);
  });
});
