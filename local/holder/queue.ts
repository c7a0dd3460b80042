import { after, type Duration, minutes, seconds } from "../../lambda/core/duration.ts";
import type { CallContext, FollowUp, FollowUps, Log } from "../../lambda/core/ports.ts";
import type { BatchAnswer } from "../../lambda/handlers/hold.ts";
import type { AlarmClock, Cancel } from "./alarm-clock.ts";
import { type Message, MessageQueue } from "./message-queue.ts";

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
  timeout?: Duration;
}>;

const largestBatch = 100;

/** The launch queue of one process: delivers what is due, one batch at a time. */
export class InProcessQueue implements FollowUps {
  readonly #options: Required<QueueOptions>;
  readonly #queue: MessageQueue;
  readonly #cancels = new Set<Cancel>();
  #delivering: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: QueueOptions) {
    this.#options = { window: seconds(1), visibility: seconds(30), timeout: minutes(1), ...options };
    this.#queue = new MessageQueue(this.#options);
  }

  get deadLetters(): readonly Message[] {
    return this.#queue.deadLetters;
  }

  async enqueue(followUp: FollowUp, delay: Duration): Promise<void> {
    this.send({ followUp }, delay);
  }

  /** Adds a message that becomes visible after the delay. */
  send(body: unknown, delay: Duration = 0): void {
    if (this.#isClosed) return;
    const { visibleAt } = this.#queue.send(body, delay);
    this.#wakeAt(after(visibleAt, this.#options.window));
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
    const batch = this.#queue.due().slice(0, largestBatch);
    if (batch.length === 0) return;
    this.#delivering = this.#deliver(batch);
    await this.#delivering;
    this.#delivering = undefined;
    await this.#deliverAll();
  }

  async #deliver(batch: readonly Message[]): Promise<void> {
    const { clock, visibility, log } = this.#options;
    const failed = await this.#failuresOf(batch);
    const dead = this.#queue.settle(batch, failed);
    for (const { body } of dead) log.error("a message failed too often: it is a dead letter", { body });
    for (const message of batch) {
      if (!failed.includes(message.id) || dead.includes(message)) continue;
      message.visibleAt = after(clock.now(), visibility);
      this.#wakeAt(message.visibleAt);
    }
  }

  async #failuresOf(batch: readonly Message[]): Promise<readonly string[]> {
    const { clock, deliver, timeout, log } = this.#options;
    try {
      const context = { deadline: after(clock.now(), timeout), log };
      const answer = await deliver(this.#queue.receive(batch), context);
      return answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
    } catch (error) {
      log.error("a batch failed: it is delivered again", { messages: batch.length, error });
      return batch.map(({ id }) => id);
    }
  }
}
