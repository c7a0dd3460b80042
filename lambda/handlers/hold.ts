import * as v from "valibot";
import { after, type Duration, earlier, minutes, seconds } from "../core/duration.ts";
import { attemptAll, BadInputError } from "../core/errors.ts";
import { seenKept } from "../core/figures.ts";
import { type LaunchBatch, mergeLaunches, resolveLaunches } from "../core/launch-events.ts";
import { holdAsAsked } from "../core/operate/hold.ts";
import type { CallContext, Context, FollowUp, Launch, Log, Ports } from "../core/ports.ts";
import { reconcile } from "../core/reconcile.ts";
import { scopeOf } from "../core/rules.ts";
import { admits, type Scope, wholeCluster } from "../core/scope.ts";
import { fields, list, parse } from "../schemas/parse.ts";
import { text } from "../schemas/values.ts";
import { version } from "../version.ts";
import { type Message, type Probe, parseMessage, type TriggeredHold } from "./events.ts";

type Received = Readonly<{ queuedAt: Date; message: Message }>;
type ReceivedProbe = Probe & Readonly<{ queuedAt: Date }>;

/** The messages that SQS must deliver again; it deletes the others. */
export type BatchAnswer = { batchItemFailures: { itemIdentifier: string }[] };

/**
 * Handles a batch of launches and follow-ups. A message that cannot be read fails alone. Any other error fails the whole
 * batch, because its messages are handled together; the rest of the work is still done.
 */
export const onNodeLaunched =
  (ports: Ports) =>
  async (event: unknown, call: CallContext): Promise<BatchAnswer> => {
    const context = { ...ports, ...call };
    const now = ports.clock.now();
    const { received, unreadable } = readBatch(call.log, event);
    const queuedAt = received.map((one) => one.queuedAt).reduce(earlier, now);
    const { launches, followUps, probes, holds } = byKind(received);
    const instances = launches.map(({ instance }) => instance);
    const named = instances.length > 0 && { instances };
    call.log.info("batch received", { messages: received.length, queuedAt, ...named });
    const malformed = received.filter(({ message }) => message.kind === "malformed probe").length;
    if (malformed > 0) call.log.warn("malformed probes dropped", { probes: malformed });
    await attemptAll([
      () => holdForLaunches(context, mergeLaunches(launches, followUps, now), followUps),
      ...holds.map((hold) => () => holdAsTriggered(context, hold)),
      ...probesToAnswer(probes, now).map((probe) => () => answerProbe(context, probe)),
    ]);
    return { batchItemFailures: unreadable.map((itemIdentifier) => ({ itemIdentifier })) };
  };

/** Each scope may take a minute; the connections to the cluster are shared. */
const scopesAtOnce = 4;

/** One pass for each scope with launches or pending nodes. A scope that is slow or fails does not stop the others. */
async function holdForLaunches(
  context: Context,
  batches: readonly LaunchBatch[],
  followUps: readonly FollowUp[],
): Promise<void> {
  // Together: EC2 may take a minute to fail, and the passes need the time that is left.
  const resolved = await Promise.all(
    batches.map((batch) =>
      resolveLaunches(context, batch).catch((error: unknown) => ({ launches: [], failures: [error] })),
    ),
  );
  const launches = resolved.flatMap((one): readonly Launch[] => one.launches);
  const failures = resolved.flatMap((one) => one.failures);
  const scopes = new Map<Scope, Launch[]>();
  // What the cloud does not answer now, NodeClaims show.
  if (failures.length > 0) for (const scope of await scopesOfClaims(context)) scopes.set(scope, []);
  const looks = new Set<Scope>();
  for (const followUp of followUps) {
    if (followUp.kind !== "scope") continue;
    scopes.set(followUp.scope, []);
    if (followUp.isLook) looks.add(followUp.scope);
  }
  for (const launch of launches) {
    const scope = scopeOf(context.rules, launch.nodePool);
    scopes.set(scope, [...(scopes.get(scope) ?? []), launch]);
  }
  const passes = [...scopes].map(
    ([scope, ofScope]) =>
      () =>
        // A launch does not wait for the pods: its pass sends the message again.
        reconcile(context, scope, { launches: ofScope, isLook: ofScope.length === 0 && looks.has(scope) }),
  );
  await attemptAll([...passes, ...failures.map((error) => () => Promise.reject(error))], scopesAtOnce);
}

/** The passes need the rest of the time. */
const claimsTime: Duration = seconds(10);

/** The scopes in which a node may have been launched a moment ago. */
async function scopesOfClaims(context: Context): Promise<readonly Scope[]> {
  const { nodeClaims, rules, log, clock } = context;
  const deadline = earlier(context.deadline, after(clock.now(), claimsTime));
  const claims = await nodeClaims.list(wholeCluster, { ...context, deadline }).catch((error: unknown) => {
    log.warn("NodeClaims could not be read", { error });
    return [];
  });
  if ("unavailable" in claims) return [];
  const oldest = after(clock.now(), -seenKept);
  return claims
    .filter(({ createdAt, nodePool }) => createdAt > oldest && admits(rules.nodePools, nodePool))
    .map(({ nodePool }) => scopeOf(rules, nodePool));
}

function byKind(received: readonly Received[]) {
  return {
    launches: received.flatMap(({ message }) => (message.kind === "launch" ? [message.launch] : [])),
    followUps: received.flatMap(({ message }) => (message.kind === "followUp" ? [message.followUp] : [])),
    probes: received.flatMap(({ message, queuedAt }): ReceivedProbe[] =>
      message.kind === "probe" ? [{ ...message, queuedAt }] : [],
    ),
    holds: received.flatMap(({ message }) => (message.kind === "hold" ? [message] : [])),
  };
}

/** What does not fit the settings any more is logged; a retry would change nothing, and must not hold up the launches. */
async function holdAsTriggered(context: Context, { scope, ...request }: TriggeredHold): Promise<void> {
  try {
    await holdAsAsked(context, scope, request);
  } catch (error) {
    if (!(error instanceof BadInputError)) throw error;
    context.log.error("a request to hold cannot be done", { scope, name: request.name, error });
  }
}

async function answerProbe(context: Context, { id, sentAt, queuedAt }: ReceivedProbe): Promise<void> {
  const answeredAt = context.clock.now();
  await context.journal.answerProbe({ id, sentAt, queuedAt, answeredAt, version });
  context.log.info("probe answered", { probe: id });
}

const record = fields({
  messageId: text,
  body: v.optional(v.unknown()),
  attributes: v.optional(v.unknown()),
});
const batch = fields({ Records: list(record, 10_000) });

function readBatch(log: Log, event: unknown): { received: Received[]; unreadable: string[] } {
  const { Records } = parse("This batch cannot be used", batch, event, "the event");
  const received: Received[] = [];
  const unreadable: string[] = [];
  for (const { messageId, body, attributes } of Records) {
    try {
      received.push({ queuedAt: sentAt(attributes), message: parseMessage(body) });
    } catch (error) {
      if (!(error instanceof BadInputError)) throw error;
      const { problems } = error;
      log.error("message cannot be read: it goes to the dead-letter queue", { messageId, problems });
      unreadable.push(messageId);
    }
  }
  return { received, unreadable };
}

const sqsAttributes = v.object({ SentTimestamp: v.pipe(v.string(), v.regex(/^\d{1,15}$/)) });

const sentAt = (attributes: unknown): Date =>
  new Date(v.is(sqsAttributes, attributes) ? Number(attributes.SentTimestamp) : 0);

/** The sender of a probe stops waiting after this time. */
const longestWait: Duration = minutes(10);
/** A flood of probes must not delay launches; doctor sends one at a time. */
const mostInABatch = 2;

/** The probes of a batch to answer: the newest by the queue's clock, which no sender can set, if their senders still wait. */
export const probesToAnswer = <P extends Readonly<{ queuedAt: Date }>>(
  probes: readonly P[],
  now: Date,
): readonly P[] =>
  probes
    .filter(({ queuedAt }) => queuedAt > after(now, -longestWait))
    .toSorted((a, b) => b.queuedAt.getTime() - a.queuedAt.getTime())
    .slice(0, mostInABatch);
