import { after, type Duration, minutes } from "../../lambda/core/duration.ts";
import type { FollowUp, FollowUps, LaunchEvent } from "../../lambda/core/ports.ts";
import { type Hooks, hooked } from "./hooks.ts";

export type QueueMessage = {
  readonly id: string;
  readonly body: string;
  readonly sentAt: Date;
  readonly kind: "launch" | "follow-up" | "other";
  visibleAt: Date;
  receives: number;
};

const visibility = minutes(12);
const mostReceives = 5;

/** The queue of launches: what is not done comes again after a while, five times at most. */
export class LaunchQueue implements FollowUps {
  messages: QueueMessage[] = [];
  readonly deadLetters: QueueMessage[] = [];
  hooks: Hooks = {};
  readonly #now: () => Date;
  #sent = 0;

  constructor(now: () => Date) {
    this.#now = now;
  }

  enqueue(followUp: FollowUp, delay: Duration): Promise<void> {
    return hooked(this.hooks, "enqueue", () => {
      this.send(JSON.stringify({ followUp }), delay, "follow-up");
    });
  }

  /** Puts EC2's event of a launch into the queue, as the rule does. */
  sendLaunch({ instance, launchedAt }: LaunchEvent, delay: Duration = 0): void {
    this.send(JSON.stringify(launchEvent(instance, launchedAt)), delay, "launch");
  }

  send(body: string, delay: Duration = 0, kind: QueueMessage["kind"] = "other"): QueueMessage {
    this.#sent += 1;
    const now = this.#now();
    const message = {
      id: `m-${this.#sent}`,
      body,
      kind,
      sentAt: now,
      visibleAt: after(now, delay),
      receives: 0,
    };
    this.messages.push(message);
    return message;
  }

  due(now: Date): QueueMessage[] {
    return this.messages.filter((message) => message.visibleAt <= now);
  }

  /** Hands messages out as one batch; until they are done or their time is over nobody else gets them. */
  receive(messages: readonly QueueMessage[], now: Date): unknown {
    for (const message of messages) {
      message.visibleAt = after(now, visibility);
      message.receives += 1;
    }
    return {
      Records: messages.map(({ id, body, sentAt, receives }) => ({
        messageId: id,
        receiptHandle: `receipt of ${id}`,
        body,
        attributes: { SentTimestamp: `${sentAt.getTime()}`, ApproximateReceiveCount: `${receives}` },
        messageAttributes: {},
        eventSource: "aws:sqs",
      })),
    };
  }

  /** Those of a batch that are done are gone; those received too often become dead letters. */
  settle(batch: readonly QueueMessage[], failed: readonly string[]): void {
    const over = batch.filter((one) => !failed.includes(one.id) || one.receives >= mostReceives);
    this.deadLetters.push(...over.filter((one) => failed.includes(one.id)));
    this.messages = this.messages.filter((one) => !over.includes(one));
  }

  drop(message: QueueMessage): void {
    this.messages = this.messages.filter((one) => one !== message);
  }
}

/** EventBridge's envelope of "an instance is pending". */
export const launchEvent = (instance: string, launchedAt: Date) => ({
  version: "0",
  id: `7bf73129-${instance}`,
  "detail-type": "EC2 Instance State-change Notification",
  source: "aws.ec2",
  account: "123456789012",
  time: launchedAt.toISOString(),
  region: "eu-central-1",
  resources: [`arn:aws:ec2:eu-central-1:123456789012:instance/${instance}`],
  detail: { "instance-id": instance, state: "pending" },
});
