import { after, type Duration, minutes, seconds } from "../../lambda/core/duration.ts";
import type { CallContext, Clock, FollowUp, FollowUps, Log } from "../../lambda/core/ports.ts";
import type { BatchAnswer } from "../../lambda/handlers/hold.ts";
import type { AlarmClock, Cancel } from "./clock.ts";

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
}>;

/** A message that fails so often becomes a dead letter. */
const mostReceives = 5;

/** A queue in memory with the delays, visibility timeout and dead letters of SQS. */
export class MessageQueue implements FollowUps {
  messages: Message[] = [];
  readonly deadLetters: Message[] = [];
  readonly #options: MessageQueueOptions;
  #sent = 0;

  constructor(options: MessageQueueOptions) {
    this.#options = options;
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
    const isFailed = ({ id }: Message) => failed.includes(id);
    const dead = batch.filter((message) => isFailed(message) && message.receives >= mostReceives);
    this.messages = this.messages.filter(
      (message) => !batch.includes(message) || (isFailed(message) && !dead.includes(message)),
    );
    this.deadLetters.push(...dead);
    return dead;
  }
}

/** What a function reads of a message. */
const recordOf = ({ id, body, sentAt }: Message) => ({
  messageId: id,
  body,
  attributes: { SentTimestamp: String(sentAt.getTime()) },
});

/** Handles a batch in the form in which SQS passes it to a function. */
export type Deliver = (event: unknown, context: CallContext) => Promise<BatchAnswer>;

export type QueueOptions = Readonly<{
  clock: AlarmClock;
  log: Log;
  deliver: Deliver;
  /** Messages that arrive within this time are delivered together. */
  window?: Duration;
  /** When a failed message is delivered again. */
  visibility?: Duration;
}>;

const largestBatch = 100;
const timeout: Duration = minutes(1);

/** The launch queue of one process: delivers what is due, one batch at a time. */
export class InProcessQueue extends MessageQueue {
  readonly #options: Required<QueueOptions>;
  readonly #cancels = new Set<Cancel>();
  #delivering: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: QueueOptions) {
    const chosen = { window: seconds(1), visibility: seconds(30), ...options };
    super(chosen);
    this.#options = chosen;
  }

  override send(body: unknown, delay: Duration = 0): Message {
    const message = super.send(body, delay);
    if (!this.#isClosed) this.#wakeAt(after(message.visibleAt, this.#options.window));
    return message;
  }

  /** Finishes the current batch and delivers no other; the next sweep finds what is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const cancel of this.#cancels) cancel();
    await this.#delivering;
  }

  #wakeAt(moment: Date): void {
    const cancel = this.#options.clock.at(moment, async () => {
      this.#cancels.delete(cancel);
      await this.#deliverAll();
    });
    this.#cancels.add(cancel);
  }

  async #deliverAll(): Promise<void> {
    while (this.#delivering) await this.#delivering;
    if (this.#isClosed) return;
    const batch = this.due().slice(0, largestBatch);
    if (batch.length === 0) return;
    this.#delivering = this.#deliver(batch);
    await this.#delivering;
    this.#delivering = undefined;
    await this.#deliverAll();
  }

  async #deliver(batch: readonly Message[]): Promise<void> {
    const { clock, visibility, log } = this.#options;
    const failed = await this.#failuresOf(batch);
    const dead = this.settle(batch, failed);
    for (const { body } of dead) log.error("a message failed too often: it is a dead letter", { body });
    for (const message of batch) {
      if (!failed.includes(message.id) || dead.includes(message)) continue;
      message.visibleAt = after(clock.now(), visibility);
      this.#wakeAt(message.visibleAt);
    }
  }

  async #failuresOf(batch: readonly Message[]): Promise<readonly string[]> {
    const { clock, deliver, log } = this.#options;
    try {
      const context = { deadline: after(clock.now(), timeout), log };
      const answer = await deliver(this.receive(batch), context);
      return answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
    } catch (error) {
      log.error("a batch failed: it is delivered again", { messages: batch.length, error });
      return batch.map(({ id }) => id);
    }
  }
}
