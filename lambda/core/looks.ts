import { after, type Duration, earlier, minutes, seconds } from "./duration.ts";
import type { NodeFacts } from "./figures.ts";
import { mostAhead, nextDelayEnd } from "./launches.ts";
import { type Account, takenWithin } from "./pays.ts";
import type { Launch } from "./ports.ts";
import type { Looks, ScopeRecord } from "./record.ts";
import type { Rules } from "./rules.ts";

type LookFacts = Readonly<{
  record: ScopeRecord;
  nodes?: NodeFacts | undefined;
  launches: readonly Launch[];
  /** Until when nodes are held. */
  until: Date | undefined;
  /** When a pause ends after which they are held again. */
  resumesAt?: Date | undefined;
  /** Until when somebody asks for that, so that drifted nodes are held, too. */
  requestedUntil?: Date | undefined;
  rules: Rules;
  now: Date;
}>;
/** When the message is to arrive, and whether the pods are read then. */
export type NextMessage = Readonly<{ delay: Duration; isLook: boolean }>;
type NextLooks = Readonly<{ looks: Looks; oneShot?: Date; message?: NextMessage }>;

/** A one-shot that fires now must not count as the next one, and the clocks of Scheduler and function differ. */
const soonest: Duration = seconds(30);

/** A message that arrives now must not count as the next one. */
const clocksDiffer: Duration = seconds(5);

/** When to look at a scope again, and what is to be set for that. */
export function looksOf(facts: LookFacts): NextLooks {
  const { record, nodes, launches, until, resumesAt, requestedUntil, rules, now } = facts;
  const { message } = record.looks;
  if (!until) return resumesAt ? oneShotAt(resumesAt, facts) : { looks: record.looks };
  // A request lets no node go, so its pods are not read.
  const nextReadAt = requestedUntil ? undefined : nodes?.nextReadAt;
  const others = [requestedUntil, nodes?.nextDriftEnd, nextReadAt, nextDelayEnd(launches, rules, now)];
  const next = others.flatMap((time) => (time && time > now ? [time] : [])).reduce(earlier, until);
  const set = oneShotAt(next, facts);
  const wanted = messageOf(facts);
  const latest = after(now, wanted ? wanted.delay + clocksDiffer : mostAhead);
  const isSent = message !== undefined && message > after(now, clocksDiffer) && message <= latest;
  const sending = isSent ? undefined : wanted;
  const nextMessage = sending ? after(now, sending.delay) : isSent ? message : undefined;
  return {
    ...set,
    looks: { ...set.looks, ...(nextMessage && { message: nextMessage }) },
    ...(sending && { message: sending }),
  };
}

/** The one-shot for this time, unless one that is set comes sooner. */
function oneShotAt(next: Date, { record, now }: LookFacts): NextLooks {
  const { oneShot } = record.looks;
  const at = next <= after(now, soonest) ? soonestAfter(now) : next;
  const isSet = oneShot !== undefined && oneShot > after(now, soonest) && oneShot <= at;
  return isSet ? { looks: { oneShot } } : { looks: { oneShot: at }, oneShot: at };
}

/** When the next one-shot may come, in steps, so that concurrent invocations set the same one. */
export const soonestAfter = (now: Date): Date => {
  const step = seconds(10);
  return new Date(Math.ceil(after(now, soonest).getTime() / step) * step);
};

/** How long a node may take to join; after that the sweep marks it. */
export const longestBoot: Duration = minutes(10);

/** The message for nodes that boot, or that Karpenter may take. A one-shot would come up to a minute late. */
function messageOf({ nodes, record, requestedUntil, rules, now }: LookFacts): NextMessage | undefined {
  const isFree = !requestedUntil && rules.mode === "hold";
  const account = isFree ? (nodes?.account ?? record.account) : undefined;
  const isLook = account !== undefined && mayBeTaken(account, now);
  const boot = bootDelay(nodes?.awaitedSince, now);
  const delay = isLook ? Math.min(takeDelay, boot ?? takeDelay) : boot;
  return delay === undefined ? undefined : { delay, isLook };
}

/**
 * Pods may come to a node that was let go. Karpenter takes it at the earliest a `consolidateAfter` and 15 seconds after the
 * last pod has come; by then the node must be marked again.
 */
const takeDelay: Duration = seconds(20);
/** More pods take too long to be read so often. */
export const podsAMinute = 10_000;

/** A node that has its turn is needed: Karpenter hardly takes it. */
const mayBeTaken = ({ pods = 0, letGo, wasted }: Account, now: Date): boolean =>
  pods <= podsAMinute &&
  Object.entries(letGo).some(([name, at]) => wasted[name] !== 0 && after(at, takenWithin) > now);

/** The delay before nodes that boot are looked for again: short at first, longer later. */
function bootDelay(awaitedSince: Date | undefined, now: Date): Duration | undefined {
  if (!awaitedSince) return undefined;
  const age = now.getTime() - awaitedSince.getTime();
  if (age >= longestBoot) return undefined;
  if (age < minutes(2)) return seconds(10);
  return age < minutes(4) ? seconds(30) : minutes(1);
}
