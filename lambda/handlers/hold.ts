import { attemptAll } from "../core/attempt-all.ts";
import { earlier, later } from "../core/duration.ts";
import { BadInputError } from "../core/errors.ts";
import { markJoinedNodes } from "../core/launches/pending-nodes.ts";
import { type LaunchBatch, resolveLaunches } from "../core/launches/resolve-launches.ts";
import type { CallContext, Context, FollowUp, LaunchEvent, Log, Ports } from "../core/ports.ts";
import type { Scope } from "../core/scope.ts";
import { version } from "../version.ts";
import { type Message, parseMessage } from "./events.ts";
import { Fields } from "./fields.ts";

type Received = Readonly<{ messageId: string; queuedAt: Date; message: Message }>;

/** What SQS is told: the messages to bring again; all others are done. */
export type BatchAnswer = { batchItemFailures: { itemIdentifier: string }[] };

/**
 * A batch of launches and follow-ups arrived. Only what cannot be read is reported by itself; an error of the work
 * fails the whole batch, because its parts are done together; all that can be done is done all the same.
 */
export const onNodeLaunched =
  (ports: Ports) =>
  async (event: unknown, call: CallContext): Promise<BatchAnswer> => {
    const context = { ...ports, ...call };
    const { received, unreadable } = readBatch(call.log, event);
    const queuedAt = received.map((one) => one.queuedAt).reduce(earlier, ports.clock.now());
    call.log.info("batch received", { messages: received.length, queuedAt });
    await attemptAll([
      ...launchesIn(received, ports.clock.now()).map((heard) => () => resolveLaunches(context, heard)),
      ...pendingNodesIn(received).map((newcomers) => () => markJoinedNodes(context, newcomers)),
      ...received.map((one) => () => answerProbe(context, one)),
    ]);
    return { batchItemFailures: unreadable.map((itemIdentifier) => ({ itemIdentifier })) };
  };

async function answerProbe(context: Context, { message, queuedAt }: Received): Promise<void> {
  if (message.kind !== "probe") return;
  const { id, sentAt } = message;
  await context.journal.answerProbe({ id, sentAt, queuedAt, answeredAt: context.clock.now(), version });
  context.log.info("probe answered", { probe: id });
}

function readBatch(log: Log, event: unknown): { received: Received[]; unreadable: string[] } {
  const fields = new Fields("This batch cannot be used");
  const records = fields.list(fields.object(event, "the event").Records, "Records", (item, path) =>
    fields.object(item, path),
  );
  const ids = records.map((record, i) => fields.text(record.messageId, `Records[${i}].messageId`));
  fields.end();
  const received: Received[] = [];
  const unreadable: string[] = [];
  records.forEach((record, i) => {
    const messageId = ids[i] ?? "";
    try {
      received.push({ messageId, queuedAt: sentAt(record), message: parseMessage(record.body) });
    } catch (error) {
      if (!(error instanceof BadInputError)) throw error;
      log.error("message cannot be read: it goes to the dead letters", {
        messageId,
        problems: error.problems,
      });
      unreadable.push(messageId);
    }
  });
  return { received, unreadable };
}

function sentAt(record: Readonly<Record<string, unknown>>): Date {
  const { SentTimestamp: sent } = Object(record.attributes);
  return new Date(typeof sent === "string" && /^\d{1,15}$/.test(sent) ? Number(sent) : 0);
}

/** All launches told for the first time together, and those looked at again by how often. */
function launchesIn(received: readonly Received[], now: Date): LaunchBatch[] {
  const heard = new Map<number, LaunchBatch>();
  const add = (attempt: number, firstHeardAt: Date, launches: readonly LaunchEvent[]) => {
    const same = heard.get(attempt);
    const merged = unique([...(same?.launches ?? []), ...launches]);
    heard.set(attempt, {
      attempt,
      launches: merged,
      // Of whom the cloud does not know yet, none is given up before its time.
      firstHeardAt: same ? later(same.firstHeardAt, firstHeardAt) : firstHeardAt,
    });
  };
  for (const { message } of received) {
    if (message.kind === "launch") add(0, now, [message.launch]);
    else if (message.kind === "followUp" && message.followUp.kind === "launches") {
      const { attempt, firstHeardAt, launches } = message.followUp;
      add(attempt, firstHeardAt, launches);
    }
  }
  return [...heard.values()];
}

type PendingNodes = Extract<FollowUp, { kind: "newcomers" }>;

/** One look a scope, however many messages ask for it. */
function pendingNodesIn(received: readonly Received[]): PendingNodes[] {
  const scopes = new Map<Scope, PendingNodes>();
  for (const { message } of received) {
    if (message.kind !== "followUp" || message.followUp.kind !== "newcomers") continue;
    const next = message.followUp;
    const same = scopes.get(next.scope);
    const awaited = unique([...(same?.awaited ?? []), ...next.awaited]);
    scopes.set(next.scope, {
      ...next,
      awaited,
      attempt: Math.min(same?.attempt ?? next.attempt, next.attempt),
    });
  }
  return [...scopes.values()];
}

/** A twin of an event is the same launch; the later time counts. */
const unique = (launches: readonly LaunchEvent[]): LaunchEvent[] => [
  ...new Map(
    launches
      .toSorted((a, b) => a.launchedAt.getTime() - b.launchedAt.getTime())
      .map((one) => [one.instance, one]),
  ).values(),
];
