import { after, type Duration, minutes, seconds } from "../../lambda/core/duration.ts";
import type { CallContext, FollowUp, FollowUps, Log } from "../../lambda/core/ports.ts";
import type { BatchAnswer } from "../../lambda/handlers/hold.ts";
import type { AlarmClock, Cancel } from "./alarm-clock.ts";

type Message = { id: string; body: string; sentAt: Date; visibleAt: Date; receives: number };

/** Takes a batch shaped as SQS hands it to a function. */
export type Deliver = (event: unknown, context: CallContext) => Promise<BatchAnswer>;

export type QueueOptions = Readonly<{
  clock: AlarmClock;
  log: Log;
  deliver: Deliver;
  /** Messages that come so close together are delivered together. */
  window?: Duration;
  /** When what failed is brought again. */
  visibility?: Duration;
  mostReceives?: number;
  timeout?: Duration;
}>;

const largestBatch = 100;

/** The launch queue within one process: batches, delays, redelivery and dead letters as in SQS, one batch at a time. */
export class InProcessQueue implements FollowUps {
  readonly deadLetters: string[] = [];
  readonly #options: Required<QueueOptions>;
  readonly #cancels = new Set<Cancel>();
  #messages: Message[] = [];
  #count = 0;
  #delivering: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: QueueOptions) {
    const usual = {
      window: seconds(1),
      visibility: seconds(30),
      mostReceives: 5,
      timeout: minutes(1),
    };
    this.#options = { ...usual, ...options };
  }

  async enqueue(followUp: FollowUp, delay: Duration): Promise<void> {
    this.send({ followUp }, delay);
  }

  /** Puts a message in that becomes visible after the delay. */
  send(body: unknown, delay: Duration = 0): void {
    if (this.#isClosed) return;
    const { clock, window } = this.#options;
    const sentAt = clock.now();
    this.#count += 1;
    const id = `message-${this.#count}`;
    const message = { id, body: JSON.stringify(body), sentAt, visibleAt: after(sentAt, delay), receives: 0 };
    this.#messages.push(message);
    this.#wakeAt(after(message.visibleAt, window));
  }

  /** Finishes the batch in hand and delivers no other; what is left is for the sweep to find. */
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
    const now = this.#options.clock.now();
    const batch = this.#messages.filter(({ visibleAt }) => visibleAt <= now).slice(0, largestBatch);
    if (batch.length === 0) return;
    this.#delivering = this.#deliver(batch);
    await this.#delivering;
    this.#delivering = undefined;
    await this.#deliverAll();
  }

  async #deliver(batch: readonly Message[]): Promise<void> {
    for (const message of batch) message.receives += 1;
    const failed = await this.#failuresOf(batch);
    this.#messages = this.#messages.filter((message) => !batch.includes(message) || failed.has(message.id));
    for (const message of batch) if (failed.has(message.id)) this.#bringAgain(message);
  }

  async #failuresOf(batch: readonly Message[]): Promise<ReadonlySet<string>> {
    const { clock, deliver, timeout, log } = this.#options;
    try {
      const answer = await deliver(
        { Records: batch.map(recordOf) },
        { deadline: after(clock.now(), timeout), log },
      );
      return new Set(answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    } catch (error) {
      log.error("a batch failed: it is brought again", { messages: batch.length, error });
      return new Set(batch.map(({ id }) => id));
    }
  }

  #bringAgain(message: Message): void {
    const { clock, visibility, mostReceives, log } = this.#options;
    if (message.receives >= mostReceives) {
      this.#messages = this.#messages.filter((one) => one !== message);
      this.deadLetters.push(message.body);
      log.error("a message failed too often: it is a dead letter", { body: message.body });
      return;
    }
    message.visibleAt = after(clock.now(), visibility);
    this.#wakeAt(message.visibleAt);
  }
}

const recordOf = ({ id, body, sentAt, receives }: Message) => ({
  messageId: id,
  body,
  attributes: { SentTimestamp: String(sentAt.getTime()), ApproximateReceiveCount: String(receives) },
  eventSource: "aws:sqs",
});
