import { after, type Duration } from "../../lambda/core/duration.ts";
import type { Clock, FollowUp, FollowUps } from "../../lambda/core/ports.ts";

export type Message = {
  readonly id: string;
  readonly body: string;
  readonly sentAt: Date;
  visibleAt: Date;
  receives: number;
};

export type MessageQueueOptions = Readonly<{
  clock: Clock;
  /** How long a received message is invisible to others. */
  visibility: Duration;
  maxReceives?: number;
}>;

/** A queue in memory with the delays, visibility timeout and dead letters of SQS. */
export class MessageQueue implements FollowUps {
  messages: Message[] = [];
  readonly deadLetters: Message[] = [];
  readonly #options: Required<MessageQueueOptions>;
  #sent = 0;

  constructor(options: MessageQueueOptions) {
    this.#options = { maxReceives: 5, ...options };
  }

  async enqueue(followUp: FollowUp, delay: Duration): Promise<void> {
    this.send({ followUp }, delay);
  }

  /** Adds a message that becomes visible after the delay. */
  send(body: unknown, delay: Duration = 0): Message {
    this.#sent += 1;
    const sentAt = this.#options.clock.now();
    const id = `message-${this.#sent}`;
    const message = { id, body: JSON.stringify(body), sentAt, visibleAt: after(sentAt, delay), receives: 0 };
    this.messages.push(message);
    return message;
  }

  /** The visible messages. */
  due(): readonly Message[] {
    const now = this.#options.clock.now();
    return this.messages.filter(({ visibleAt }) => visibleAt <= now);
  }

  /** Receives messages as one batch, in the form in which a function gets it. */
  receive(batch: readonly Message[]): unknown {
    const { clock, visibility } = this.#options;
    for (const message of batch) {
      message.visibleAt = after(clock.now(), visibility);
      message.receives += 1;
    }
    return { Records: batch.map(recordOf) };
  }

  /** Deletes the messages of a batch that are done; one that failed too often becomes a dead letter. Returns the new dead letters. */
  settle(batch: readonly Message[], failed: readonly string[]): readonly Message[] {
    const { maxReceives } = this.#options;
    const isFailed = ({ id }: Message) => failed.includes(id);
    const dead = batch.filter((message) => isFailed(message) && message.receives >= maxReceives);
    this.messages = this.messages.filter(
      (message) => !batch.includes(message) || (isFailed(message) && !dead.includes(message)),
    );
    this.deadLetters.push(...dead);
    return dead;
  }

  remove(message: Message): void {
    this.messages = this.messages.filter((one) => one !== message);
  }
}

const recordOf = ({ id, body, sentAt, receives }: Message) => ({
  messageId: id,
  receiptHandle: `receipt of ${id}`,
  body,
  attributes: { SentTimestamp: String(sentAt.getTime()), ApproximateReceiveCount: String(receives) },
  messageAttributes: {},
  eventSource: "aws:sqs",
});
