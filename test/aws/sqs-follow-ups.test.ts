import { SQSClient } from "@aws-sdk/client-sqs";
import { afterEach, describe, expect, it } from "vitest";
import { SqsFollowUps } from "../../lambda/aws/sqs-follow-ups.ts";
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
  const done = (entries: readonly Entry[]) => json({ Successful: entries.map(({ Id }) => ({ Id })) });
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
const check: FollowUp = { kind: "scope", scope: poolScope("batch"), isLook: true };
const about = { kind: "launches", firstSeenAt: noon, attempt: 1 } as const;
const launchesOf = (count: number): FollowUp => ({ ...about, launches: launches(count) });

describe("a follow-up", () => {
  it("goes to the launch queue in the format of the hold function", async () => {
    const port = await later();
    await port.enqueue(check, seconds(30));
    await port.enqueue(launchesOf(1), seconds(30));
    expect(bodies().map(parseMessage)).toEqual([
      { kind: "followUp", followUp: check },
      { kind: "followUp", followUp: launchesOf(1) },
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
  ])("is delayed by whole seconds, rounded up, and at most 15 minutes: %d ms", async (delay, expected) => {
    const port = await later();
    await port.enqueue(launchesOf(1), delay);
    expect(batches()[0]?.[0]?.DelaySeconds).toBe(expected);
  });

  it("is split into messages, and requests well below what SQS accepts, when it is long", async () => {
    const port = await later();
    await port.enqueue(launchesOf(5_001), minutes(1));
    const back = bodies().flatMap((body) => Object(parseMessage(body)).followUp.launches);
    expect(back).toEqual(launches(5_001));
    for (const entries of batches()) {
      expect(entries.length).toBeLessThanOrEqual(10);
      expect(new Set(entries.map(({ Id }) => Id)).size).toBe(entries.length);
      const bytes = entries.reduce((sum, { MessageBody }) => sum + Buffer.byteLength(MessageBody), 0);
      expect(bytes).toBeLessThan(200 * 1_024);
    }
  });

  it("of no launches is not sent", async () => {
    const port = await later();
    await port.enqueue(launchesOf(0), seconds(30));
    expect(aws.requests).toEqual([]);
  });
});

describe("errors", () => {
  it("are transient when some messages of a batch were refused", async () => {
    const port = await later(([first, second]) =>
      json({
        Failed: [
          { Id: first?.Id, Code: "InternalError", Message: "not today", SenderFault: false },
          { Id: second?.Id, Code: "ServiceUnavailable", SenderFault: false },
        ],
      }),
    );
    const sending = port.enqueue(launchesOf(500), seconds(30));
    await expect(sending).rejects.toThrow(TryAgainError);
    await expect(sending).rejects.toThrow(
      new TryAgainError("2 of 3 messages were not queued: InternalError not today, ServiceUnavailable"),
    );
  });

  it("are a broken set-up when the queue does not exist", async () => {
    const port = await later(() => jsonError("QueueDoesNotExist", "no"));
    const sending = port.enqueue(launchesOf(1), 0);
    await expect(sending).rejects.toThrow(BrokenSetupError);
    await expect(sending).rejects.toThrow(/^Cannot send to .*\/launches: no\. Check that the launch queue/);
  });
});
