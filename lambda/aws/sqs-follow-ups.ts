import { SendMessageBatchCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { type Duration, minutes } from "../core/duration.ts";
import { TryAgainError } from "../core/errors.ts";
import type { FollowUp, FollowUps, LaunchEvent } from "../core/ports.ts";
import { awsFailure } from "./errors.ts";

/** SQS delays no message for longer. */
const longestDelay = minutes(15);
/** The ten messages of a batch may have 256 KiB together; this many launches take about 16 kB. */
const mostInAMessage = 200;
const mostInABatch = 10;

/** Postpones work by a delayed message to the launch queue. */
export class SqsFollowUps implements FollowUps {
  readonly #client: SQSClient;
  readonly #queueUrl: string;

  constructor(client: SQSClient, queueUrl: string) {
    this.#client = client;
    this.#queueUrl = queueUrl;
  }

  async enqueue(followUp: FollowUp, delay: Duration): Promise<void> {
    const DelaySeconds = Math.ceil(Math.min(Math.max(delay, 0), longestDelay) / 1000);
    const entries = pieces(followUp).map((piece, i) => ({
      Id: String(i),
      MessageBody: JSON.stringify({ followUp: piece }),
      DelaySeconds,
    }));
    for (let i = 0; i < entries.length; i += mostInABatch)
      await this.#send(entries.slice(i, i + mostInABatch));
  }

  async #send(Entries: { Id: string; MessageBody: string; DelaySeconds: number }[]): Promise<void> {
    const { Failed = [] } = await this.#client
      .send(new SendMessageBatchCommand({ QueueUrl: this.#queueUrl, Entries }))
      .catch((error: unknown) => {
        const remedy =
          "Check that the launch queue exists and that the functions' role may send to it and use its key.";
        throw awsFailure(error, `send to ${this.#queueUrl}`, remedy);
      });
    if (Failed.length === 0) return;
    const reasons = [...new Set(Failed.map(({ Code, Message }) => `${Code} ${Message ?? ""}`.trim()))];
    throw new TryAgainError(
      `${Failed.length} of ${Entries.length} messages were not queued: ${reasons.join(", ")}`,
    );
  }
}

/** Splits a long list into several messages. */
function pieces(followUp: FollowUp): FollowUp[] {
  if (followUp.kind === "scope") return [followUp];
  return chunks(followUp.launches).map((launches) => ({ ...followUp, launches }));
}

function chunks(list: readonly LaunchEvent[]): (readonly LaunchEvent[])[] {
  const count = Math.ceil(list.length / mostInAMessage);
  return Array.from({ length: count }, (_, i) => list.slice(i * mostInAMessage, (i + 1) * mostInAMessage));
}
