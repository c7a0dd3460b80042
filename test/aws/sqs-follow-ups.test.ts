import { SQSClient } from "@aws-sdk/client-sqs";
import { afterEach, describe, expect, it } from "vitest";
import { SqsFollowUps, writeFollowUp } from "../../lambda/aws/sqs-follow-ups.ts";
import { hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { BrokenSetupError, TryAgainError } from "../../lambda/core/errors.ts";
import type { FollowUp, LaunchEvent } from "../../lambda/core/ports.ts";
import { poolScope } from "../../lambda/core/scope.ts";
import { parseMessage } from "../../lambda/handlers/events.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { type AwsAnswer, type FakeAws, fakeAws, json, jsonError } from "../support/fake-aws.ts";

type Entry = Readonly<{ Id: string; MessageBody: string; DelaySeconds: number }>;

let aws: FakeAws;
afterEach(() => aws.close());

async function later(answer?: (entries: readonly Entry[]) => AwsAnswer) {
  const done = (entries: readonly Entry[]) =>
    json({ Successful: entries.map(({ Id }) => ({ Id })), Failed: [] });
  aws = await fakeAws(({ body }) => (answer ?? done)(JSON.parse(body).Entries));
  const client = new SQSClient({ ...aws.client, md5: false, maxAttempts: 1 });
  return new SqsFollowUps(client, `${aws.client.endpoint}/123456789012/launches`);
}
const batches = (): (readonly Entry[])[] => aws.requests.map(({ body }) => JSON.parse(body).Entries);
const bodies = () => batches().flatMap((entries) => entries.map(({ MessageBody }) => MessageBody));

const launches = (count: number): LaunchEvent[] =>
  Array.from({ length: count }, (_, n) => ({
    instance: `i-${n.toString(16).padStart(17, "0")}`,
    launchedAt: noon,
  }));
const pendingNodes = (count: number): FollowUp => ({
  kind: "pendingNodes",
  scope: poolScope("batch"),
  awaited: launches(count),
  attempt: 3,
});
const heard = (count: number): FollowUp => ({
  kind: "launches",
  launches: launches(count),
  firstSeenAt: noon,
  attempt: 1,
});

describe("a follow-up", () => {
  it("goes to the launch queue in words that the hold function understands", async () => {
    const port = await later();
    await port.enqueue(pendingNodes(2), seconds(30));
    await port.enqueue(heard(1), seconds(30));
    expect(bodies().map(parseMessage)).toEqual([
      { kind: "followUp", followUp: pendingNodes(2) },
      { kind: "followUp", followUp: heard(1) },
    ]);
    expect(aws.requests[0]?.headers["x-amz-target"]).toBe("AmazonSQS.SendMessageBatch");
  });

  it.each([
    [0, 0],
    [1, 1],
    [seconds(30), 30],
    [seconds(30) + 1, 31],
    [hours(2), 900],
    [-seconds(5), 0],
  ])("is put off by whole seconds, rounded up, and by 15 minutes at most: %d ms", async (delay, expected) => {
    const port = await later();
    await port.enqueue(heard(1), delay);
    expect(batches()[0]?.[0]?.DelaySeconds).toBe(expected);
  });

  it.each([pendingNodes, heard])(
    "comes back in pieces when it is long, nothing lost: %o",
    async (followUp) => {
      const port = await later();
      await port.enqueue(followUp(5_001), minutes(1));
      const pieces = bodies().map((body) => parseMessage(body));
      const back = pieces.flatMap((piece) => {
        if (piece.kind !== "followUp") return [];
        return piece.followUp.kind === "pendingNodes" ? piece.followUp.awaited : piece.followUp.launches;
      });
      expect(back).toEqual(launches(5_001));
    },
  );

  it("keeps every request well below what SQS accepts", async () => {
    const port = await later();
    await port.enqueue(pendingNodes(5_001), minutes(1));
    for (const entries of batches()) {
      expect(entries.length).toBeLessThanOrEqual(10);
      expect(new Set(entries.map(({ Id }) => Id)).size).toBe(entries.length);
      const bytes = entries.reduce((sum, { MessageBody }) => sum + Buffer.byteLength(MessageBody), 0);
      expect(bytes).toBeLessThan(200 * 1_024);
    }
  });

  it("that awaits nobody is sent all the same, because it goes on with marking", async () => {
    const port = await later();
    await port.enqueue(pendingNodes(0), seconds(30));
    expect(bodies().map(parseMessage)).toEqual([{ kind: "followUp", followUp: pendingNodes(0) }]);
  });

  it("of no launches is not sent", async () => {
    const port = await later();
    await port.enqueue(heard(0), seconds(30));
    expect(aws.requests).toEqual([]);
  });

  it("writes dates as ISO strings", async () => {
    aws = await fakeAws(() => json({}));
    expect(JSON.parse(writeFollowUp(heard(1)))).toEqual({
      followUp: {
        kind: "launches",
        launches: [{ instance: "i-00000000000000000", launchedAt: "2026-11-21T12:00:00.000Z" }],
        firstSeenAt: "2026-11-21T12:00:00.000Z",
        attempt: 1,
      },
    });
  });
});

describe("what goes wrong", () => {
  it("is tried again when some messages of a batch were not taken", async () => {
    const port = await later(([first, ...others]) =>
      json({
        Successful: others.map(({ Id }) => ({ Id })),
        Failed: [{ Id: first?.Id, Code: "InternalError", Message: "not today", SenderFault: false }],
      }),
    );
    const sending = port.enqueue(pendingNodes(500), seconds(30));
    await expect(sending).rejects.toThrow(TryAgainError);
    await expect(sending).rejects.toThrow(/1 of 3 .*InternalError not today/);
  });

  it("is a broken set-up when the queue is not there or not ours to use", async () => {
    for (const name of ["QueueDoesNotExist", "AccessDeniedException"]) {
      const port = await later(() => jsonError(name, "no"));
      await expect(port.enqueue(heard(1), 0)).rejects.toThrow(BrokenSetupError);
      await aws.close();
    }
  });

  it("is tried again when the queue throttles or fails", async () => {
    for (const [name, status] of [
      ["RequestThrottled", 400],
      ["InternalFailure", 500],
    ] as const) {
      const port = await later(() => jsonError(name, "later", status));
      await expect(port.enqueue(heard(1), 0)).rejects.toThrow(TryAgainError);
      await aws.close();
    }
  });
});
