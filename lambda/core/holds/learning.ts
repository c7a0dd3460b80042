import { decideHoldLength, type HoldLength } from "../auto/hold-length.ts";
import {
  forgetIdle,
  type Learned,
  learnFromUse,
  nothingLearned,
  stopWatching,
  type Use,
} from "../auto/learned.ts";
import { after, earlier, later, minutes } from "../duration.ts";
import type { Launch, Metrics, NodeClaim } from "../ports.ts";
import { longestHold, type Rules } from "../rules.ts";
import { extended, type ScopeRecord } from "./hold.ts";

/** A scope after a use, and the rules for its hold from this use on. */
export type Observed = Readonly<{ record: ScopeRecord; rules: Rules; length?: HoldLength }>;

/** With `hold=auto`, learns from a use, and chooses how long a hold lasts from then on. */
export function observe(record: ScopeRecord, rules: Rules, use: Omit<Use, "held">): Observed {
  const { auto } = rules;
  if (!auto) return { record: changeLearned(record, forgetIdle), rules };
  const terms = { relaunchCost: auto.relaunchCost, cap: longestHold(rules) };
  const before = record.learned ?? nothingLearned;
  const known = learnFromUse(before, { ...use, held: isHeld(record) }, terms);
  const length = decideHoldLength(known, auto.relaunchCost, terms);
  const own = { ...rules, hold: length.length };
  if (known === before || !known.idle) return { record, rules: own, length };
  const learned = { ...known, idle: { ...known.idle, length: length.length } };
  return { record: { ...record, learned }, rules: own, length };
}

/** How long a hold of this scope would last after a launch now; undefined without `hold=auto`. */
export const learnedLength = (
  { learned = nothingLearned }: ScopeRecord,
  rules: Rules,
): HoldLength | undefined =>
  rules.auto && decideHoldLength(learned, rules.auto.relaunchCost, { cap: longestHold(rules) });

/** Ends the present gap of a scope whose hold is cut short: what comes next does not show how long the gap was. */
export const unwatched = (record: ScopeRecord, now: Date): ScopeRecord =>
  changeLearned(record, (learned) => stopWatching(learned, now, isHeld(record)));

const isHeld = ({ hold }: ScopeRecord): boolean => hold?.state === "held";

const changeLearned = (record: ScopeRecord, change: (learned: Learned) => Learned): ScopeRecord =>
  record.learned?.idle ? { ...record, learned: change(record.learned) } : record;

/** What launches taught, and until when they ask to be held. */
export type ObservedLaunches = Observed & Readonly<{ heldUntil: Date }>;

/** Learns from the launches that were not seen before, and chooses how long the latest one is held. */
export function observeLaunches(
  record: ScopeRecord,
  rules: Rules,
  launches: Readonly<{ latest: Launch; news: readonly Launch[] }>,
  now: Date,
): ObservedLaunches {
  const { news, latest } = launches;
  const at = latest.launchedAt;
  const before = record.hold?.state === "held" ? record.hold.launches : 0;
  const from = news.map(({ launchedAt }) => launchedAt).reduce(earlier, at);
  const observed = observe(record, rules, { at, from, nodes: before + news.length, kind: "launch" });
  const heldUntil = after(at, observed.rules.hold);
  if (news.length === 0) return { ...observed, record, heldUntil };
  return { ...observed, heldUntil: later(heldUntil, bootsUntil(at, rules, now)) };
}

/** New nodes are protected until their first use, even by a short hold, but no longer than this. */
export const bootTime = minutes(5);
/** How often their use is checked. */
export const bootCheck = minutes(1);

/** Until when a launch is protected while its nodes boot; where use is read, until the next check. */
export function bootsUntil(launchedAt: Date, { auto, extendOn }: Rules, now: Date): Date {
  if (!auto) return launchedAt;
  const end = after(launchedAt, bootTime);
  return extendOn === "use" ? earlier(end, after(now, bootCheck)) : end;
}

export type BootDecision =
  | Readonly<{ action: "leave"; because: string; record?: never }>
  | Readonly<{ action: "extend"; because: string; record: ScopeRecord }>;

export type BootFacts = Readonly<{
  record: ScopeRecord;
  holdId: string;
  /** Undefined where NodeClaims cannot be read. */
  claims: readonly NodeClaim[] | undefined;
  rules: Rules;
  now: Date;
}>;

/** Extends a short hold that is due while its nodes boot. */
export function decideBoot({ record, holdId, claims, rules, now }: BootFacts): BootDecision {
  const { hold, lastLaunchAt } = record;
  if (!rules.auto || hold?.id !== holdId || hold.state !== "held") {
    return { action: "leave", because: "the hold is over" };
  }
  const until = claims ? endOfBoot(claims, record) : lastLaunchAt && after(lastLaunchAt, bootTime);
  if (!until || until <= now) return { action: "leave", because: "no node of the hold is booting" };
  const next = { ...hold, ...extended(hold, claims ? earlier(until, after(now, bootCheck)) : until, rules) };
  if (next.expiresAt <= hold.expiresAt) return { action: "leave", because: "the hold already lasts as long" };
  return { action: "extend", because: "its nodes have not been used yet", record: { ...record, hold: next } };
}

/** When the wait for the youngest unused node ends; undefined when all nodes were used. */
function endOfBoot(claims: readonly NodeClaim[], record: ScopeRecord): Date | undefined {
  const unused = ofDemand(claims, record).filter(({ lastPodEventAt }) => !lastPodEventAt);
  return unused.length > 0
    ? after(unused.map(({ createdAt }) => createdAt).reduce(later), bootTime)
    : undefined;
}

/** Leaves out replacements: they run pods of other nodes, which is no use of this hold's nodes. */
export function ofDemand(claims: readonly NodeClaim[], { replacements }: ScopeRecord): readonly NodeClaim[] {
  const replacing = new Set(replacements?.map(({ instance }) => instance));
  return claims.filter(({ instance }) => !(instance && replacing.has(instance)));
}

/** Emits what the newest gap cost while its nodes were held, and whether the hold spared their relaunch. */
export function reportLearned(
  metrics: Metrics,
  before: Learned | undefined,
  after: Learned | undefined,
): void {
  const gap = after?.gaps.at(-1);
  if (!gap || !before?.idle || gap === before.gaps.at(-1)) return;
  const { length } = before.idle;
  const end = gap.atMost ?? gap.atLeast;
  metrics.add("IdleNodeMinutes", (gap.nodes * Math.min(end, length)) / minutes(1));
  const isSpared = gap.atMost !== undefined && gap.atMost <= length;
  if (isSpared) metrics.add("RelaunchesSpared", gap.nodes);
}
