import { isDeepStrictEqual } from "node:util";
import { after, type Duration, earlier, later, minutes, seconds } from "./duration.ts";
import { endOf, isDelayOver, launchesThatHold, launchHoldAfter, nextDelayEnd } from "./launches.ts";
import type { Account } from "./pays.ts";
import type { Launch } from "./ports.ts";
import { describeQuiet, isPaused, type Silence, silenceOf } from "./quiet.ts";
import {
  type AutoFigures,
  type Figures,
  type Hold,
  type Looks,
  noFigures,
  type PastHold,
  pastOf,
  type Request,
  type ScopeRecord,
  type Watched,
  withNewHold,
} from "./record.ts";
import { isOn, present } from "./requests.ts";
import { isOfRules, type Rules } from "./rules.ts";

export type PlanFacts = Readonly<{
  /** With what somebody asks for. */
  record: ScopeRecord;
  /** As it was read, where somebody asks for a change of it. */
  stored?: ScopeRecord;
  /** The record of the whole cluster, where the scope is a NodePool. */
  whole?: ScopeRecord | undefined;
  /** Launches in this scope, by events or by NodeClaims; any of them may have been there before. */
  launches: readonly Launch[];
  /** What the cluster showed; undefined where it could not be read. */
  nodes?: NodeFacts | undefined;
  rules: Rules;
  now: Date;
  newId: string;
  /** Whether messages can be sent; else the next sweep looks for nodes that have not joined yet. */
  canQueue: boolean;
}>;

/** The nodes that a hold protects, and since when the youngest launch waits for its node. */
export type NodeFacts = Readonly<{
  holdable: readonly string[];
  /** The names of all nodes of the scope. */
  present: ReadonlySet<string>;
  awaitedSince?: Date | undefined;
  nextDriftEnd?: Date | undefined;
  /** With `hold=auto`, the account of the nodes by now, where this pass has read the pods. */
  account?: Account | undefined;
  /** What `hold=auto` found since the last look. */
  since?: AutoFigures | undefined;
  /** With `hold=auto`, when the pods are to be read next. */
  nextReadAt?: Date | undefined;
}>;

/** What is held, until when and why; the record that says so; and when to look again. */
export type Plan = Readonly<{
  record: ScopeRecord;
  isChanged: boolean;
  /** Until when nodes are held; undefined: they are not. */
  until?: Date;
  /** Whether somebody asked for the hold, so that drifted nodes are held, too. */
  isRequested: boolean;
  because: string;
  /** A hold that goes to history before the record is written. */
  past?: PastHold;
  /** Launches that were not seen before; those of them that are counted; and those that hold nothing. */
  news: readonly Launch[];
  counted: readonly Launch[];
  ignored: readonly Launch[];
  /** The one-shot to set. */
  oneShot?: Date;
  /** The delay of the message to send. */
  message?: Duration;
  /** Whether the hold starts, or is extended, or reaches its cap by this plan. */
  steps: readonly ("start" | "extend" | "cap")[];
  /** When the hold was due, where this plan ends it. */
  dueAt?: Date;
}>;

/** Compares what is recorded with what should be at this time. The same facts always give the same plan. */
export function planScope(facts: PlanFacts): Plan {
  const { record, whole, launches, rules, now } = facts;
  const silence = silenceOf(record, whole, now);
  const isKept = isOfRules(rules, record.scope);
  const countFrom = silence.launchesCountFrom;
  const ofLaunches = { before: record.launchHold, launches, countFrom, rules, now };
  const launchHold = launchHoldAfter(ofLaunches);
  const end = launchHold && endOf(launchHold, rules);
  const isOver = end !== undefined && end.at <= now;
  const requests = present(record.requests, now).filter(({ at }) => at >= silence.requestsCountFrom);
  const asked = requests.filter((one) => isOn(one, now));
  const ends = [...(end && !isOver ? [end.at] : []), ...asked.map(({ until }) => until)];
  const until = isKept && !isPaused(silence) && ends.length > 0 ? ends.reduce(later) : undefined;
  const due = launches.filter((launch) => isDelayOver(launch, rules, now));
  const news = newsIn(due, record.seen, now);
  const counted = until ? news.filter(({ launchedAt }) => earlier(launchedAt, now) >= countFrom) : [];
  const known = new Set([...Object.keys(record.seen), ...counted.map(({ instance }) => instance)]);

  const { launchHold: _, quiet, ...rest } = record;
  const next: ScopeRecord = {
    ...rest,
    ...(launchHold && !isOver && isKept && { launchHold }),
    ...(isOver && end.isCapped
      ? { quiet: { kind: "breather", since: now, until: after(now, rules.breather), because: capped } }
      : quiet && { quiet }),
    requests,
    seen: seenAfter(record.seen, news, now),
  };
  const holding = launchesThatHold(ofLaunches);
  const wasCapped = isOver && end.isCapped;
  const started = startOrEnd({ ...facts, next, until, silence, wasCapped, asked, holding });
  const { watched: _w, account: _a, ...unwatched } = started.record;
  const planned: ScopeRecord = {
    ...unwatched,
    ...watchedAfter(facts, until !== undefined),
    ...accountAfter(facts, until !== undefined && launchHold !== undefined, asked.length > 0),
    figures: figuresAfter({ ...facts, next: started.record, until, counted, asked, end }),
  };
  const looks = looksOf({ ...facts, hold: planned.hold, until, asked });
  const written = planned.hold ? { ...planned, looks: looks.looks } : planned;
  const isChanged = !isDeepStrictEqual(written, record);
  const dueAt = dueOf(record, rules);
  return {
    record: written,
    isChanged,
    ...(until && { until }),
    isRequested: asked.length > 0,
    because: started.because,
    ...(started.past && { past: started.past }),
    news,
    counted,
    ignored: due.filter(({ instance }) => !known.has(instance)),
    steps: stepsOf(record, written),
    ...(looks.oneShot && { oneShot: looks.oneShot }),
    ...(looks.message !== undefined && { message: looks.message }),
    ...(started.isEnd && { dueAt: dueAt ? earlier(dueAt, now) : now }),
  };
}

function stepsOf(before: ScopeRecord, { hold, figures }: ScopeRecord): Plan["steps"] {
  if (!hold || hold.ended) return [];
  const isStart = before.hold?.id !== hold.id;
  const was = isStart ? noFigures : before.figures;
  return [
    ...(isStart ? (["start"] as const) : []),
    ...(figures.extensions > was.extensions ? (["extend"] as const) : []),
    ...(figures.capped && !was.capped ? (["cap"] as const) : []),
  ];
}

const capped = "launches have held for as long as maxHold allows";

type StartFacts = PlanFacts &
  Readonly<{
    next: ScopeRecord;
    until: Date | undefined;
    silence: Silence;
    wasCapped: boolean;
    asked: readonly Request[];
    holding: readonly Launch[];
  }>;
type Started = Readonly<{ record: ScopeRecord; because: string; past?: PastHold; isEnd?: true }>;

/** Starts a hold where nodes are to be held and none is on, and ends one where they are not. */
function startOrEnd(facts: StartFacts): Started {
  const { next, until, now, newId, asked, silence } = facts;
  const { hold, scope } = next;
  if (until && hold && !hold.ended) return { record: next, because: hold.because };
  if (until) {
    const because = whyHeld(facts);
    const record = withNewHold(next, { id: newId, startedAt: now, because });
    return { record, because, ...(hold && { past: pastOf({ ...next, hold }, now) }) };
  }
  if (!hold || hold.ended)
    return { record: next, because: hold?.ended?.because ?? whyNothing(silence, asked.length) };
  const because = whyOver(facts, hold);
  return { record: { ...next, scope, hold: { ...hold, ended: { at: now, because } } }, because, isEnd: true };
}

function whyHeld({ holding, asked }: StartFacts): string {
  const pools = [...new Set(holding.map(({ nodePool }) => nodePool))].toSorted();
  if (pools.length === 1) return `a node was launched in NodePool ${pools[0]}`;
  if (pools.length > 1) return `nodes were launched in NodePools ${pools.join(", ")}`;
  return asked[0]?.reason ?? "a node was launched";
}

function whyNothing({ quiet }: Silence, requests: number): string {
  if (quiet) return describeQuiet(quiet);
  return requests > 0 ? "the setting scope leaves it out" : "no launch and no request counts";
}

function whyOver(facts: StartFacts, hold: Hold): string {
  const { record, stored = record, rules, silence, wasCapped } = facts;
  if (!isOfRules(rules, record.scope)) return "the setting scope has changed";
  if (silence.quiet?.kind === "paused") return `paused by hand: ${silence.quiet.because}`;
  const { launchHold, requests } = record;
  const causes = [...(launchHold ? [launchHold.lastLaunchAt] : []), ...requests.map(({ at }) => at)];
  if (silence.released && causes.some((at) => at < silence.requestsCountFrom))
    return `released by hand: ${silence.released}`;
  if (wasCapped) return capped;
  // What is released now, or was released during this hold: the clock that started it may have been ahead.
  const before = new Map(stored.requests.map(({ name, releasedAt }) => [name, releasedAt]));
  const released = requests.filter(
    ({ name, releasedAt }) => releasedAt && (releasedAt >= hold.startedAt || !before.get(name)),
  );
  const names = released.map(({ name }) => name).join(", ");
  return released.length > 0 ? `released by hand: ${names}` : "the hold expired";
}

/** Duplicates of an event come within minutes. An older launch was counted, or is not counted any more. */
export const seenKept: Duration = minutes(15);
/** Longer, because the clocks of functions differ: what one forgets, another must not count again. */
const remembered: Duration = seenKept + minutes(2);
const mostSeen = 500;

/** The launches that were not counted before, each once. */
function newsIn(launches: readonly Launch[], seen: ScopeRecord["seen"], now: Date): readonly Launch[] {
  const times = Object.values(seen);
  const oldest = after(now, -seenKept);
  // Where the record has no room for more, what is older than all that it names may have been forgotten.
  const countFrom = times.length < mostSeen ? oldest : times.reduce(earlier, now);
  const news = launches.filter(
    ({ instance, launchedAt }) => launchedAt > countFrom && seen[instance] === undefined,
  );
  return [...new Map(news.map((launch) => [launch.instance, launch])).values()];
}

function seenAfter(
  seen: ScopeRecord["seen"],
  news: readonly Launch[],
  now: Date,
): Readonly<Record<string, Date>> {
  const added = news.map(({ instance, launchedAt }) => [instance, launchedAt] as const);
  return Object.fromEntries(
    [...Object.entries(seen), ...added]
      .filter(([, at]) => at > after(now, -remembered))
      .toSorted(([, a], [, b]) => a.getTime() - b.getTime())
      .slice(-mostSeen),
  );
}

type FigureFacts = Readonly<{
  record: ScopeRecord;
  stored?: ScopeRecord;
  next: ScopeRecord;
  nodes?: NodeFacts | undefined;
  until: Date | undefined;
  counted: readonly Launch[];
  asked: readonly Request[];
  end: ReturnType<typeof endOf> | undefined;
  rules: Rules;
}>;

/** A record names this many NodePools and reasons: it is read and written as a whole, so it must stay small. */
const mostNames = 10;

/** Adds up what history reports. */
function figuresAfter(facts: FigureFacts): Figures {
  const { record, stored = record, next, nodes, until, counted, asked, end, rules } = facts;
  const { figures } = next;
  if (!next.hold || !until) return figures;
  const launches = new Map(Object.entries(figures.launches));
  for (const { nodePool } of counted) {
    const name = launches.has(nodePool) || launches.size < mostNames ? nodePool : "others";
    launches.set(name, (launches.get(name) ?? 0) + 1);
  }
  const before = stored.hold?.id === next.hold.id ? untilOf(stored, rules) : undefined;
  const requests = [...new Set([...figures.requests, ...asked.map(({ reason }) => reason)])];
  return {
    launches: Object.fromEntries(launches),
    extensions: figures.extensions + (before && until > before ? 1 : 0),
    nodes: Math.max(figures.nodes, nodes?.holdable.length ?? 0),
    capped: figures.capped || (end?.isCapped ?? false),
    requests: requests.slice(0, mostNames),
    removed: figures.removed + (nodes ? gone(next.watched, nodes).length : 0),
    superfluous: figures.superfluous + (nodes?.since?.superfluous ?? 0),
    letGo: figures.letGo + (nodes?.since?.letGo ?? 0),
    spared: figures.spared + (nodes?.since?.spared ?? 0),
  };
}

const gone = (watched: Watched = [], { present }: NodeFacts): Watched =>
  watched.filter((name) => !present.has(name));

/** A record has room for this many names. */
export const mostWatched = 500;

/** The nodes to be watched for their removal while nothing protects them. */
function watchedAfter({ nodes, rules, record }: PlanFacts, isHeld: boolean): Pick<ScopeRecord, "watched"> {
  if (!isHeld || rules.mode === "hold") return {};
  const watched = nodes ? nodes.holdable.slice(0, mostWatched) : record.watched;
  return watched ? { watched } : {};
}

/** When the launch hold and the requests of a record end, whatever silences them. */
export function untilOf({ launchHold, requests }: ScopeRecord, rules: Rules): Date | undefined {
  const ends = [
    ...(launchHold ? [endOf(launchHold, rules).at] : []),
    ...requests.filter(({ releasedAt }) => !releasedAt).map(({ until }) => until),
  ];
  return ends.length > 0 ? ends.reduce(later) : undefined;
}

/** The same, with requests that were released before their end. */
const dueOf = ({ requests, ...record }: ScopeRecord, rules: Rules): Date | undefined =>
  untilOf(
    {
      ...record,
      requests: requests.map(({ releasedAt, ...one }) => ({ ...one, until: releasedAt ?? one.until })),
    },
    rules,
  );

/** The account goes on as long as launches hold. A request holds all nodes, so none is let go. */
function accountAfter(
  { nodes, record, rules }: PlanFacts,
  isOn: boolean,
  isRequested: boolean,
): Pick<ScopeRecord, "account"> {
  const account = nodes?.account ?? record.account;
  if (!isOn || !rules.auto || !account) return {};
  return { account: isRequested ? { ...account, letGo: {} } : account };
}

type LookFacts = PlanFacts &
  Readonly<{ hold?: Hold | undefined; until: Date | undefined; asked: readonly Request[] }>;
type NextLooks = Readonly<{ looks: Looks; oneShot?: Date; message?: Duration }>;

/** A one-shot that fires now must not count as the next one, and the clocks of Scheduler and function differ. */
const soonest: Duration = seconds(30);

/** A message that arrives now must not count as the next one. */
const clocksDiffer: Duration = seconds(5);

/** When to look at a scope again, and what is to be set for that. */
function looksOf({ record, nodes, launches, until, rules, now, canQueue }: LookFacts): NextLooks {
  const { oneShot, message } = record.looks;
  const sending = canQueue && until ? delayOf(nodes?.awaitedSince, now) : undefined;
  const isSent = message !== undefined && message > after(now, clocksDiffer);
  const delay = sending !== undefined && !isSent ? sending : undefined;
  const sent = delay !== undefined ? { message: after(now, delay) } : isSent ? { message } : {};

  const times = until
    ? [until, nodes?.nextDriftEnd, nodes?.nextReadAt, nextDelayEnd(launches, rules, now)]
    : [];
  const next = times
    .flatMap((time) => (time && time > now ? [time] : []))
    .reduce<Date | undefined>(soonestOf, undefined);
  if (!next)
    return {
      looks: { ...(oneShot && { oneShot }), ...sent },
      ...(delay !== undefined && { message: delay }),
    };
  const at = next <= after(now, soonest) ? wholeMinuteFrom(after(now, soonest)) : next;
  const isSet = oneShot !== undefined && oneShot > after(now, soonest) && oneShot <= at;
  return {
    looks: { oneShot: isSet ? oneShot : at, ...sent },
    ...(!isSet && { oneShot: at }),
    ...(delay !== undefined && { message: delay }),
  };
}

const soonestOf = (a: Date | undefined, b: Date): Date => (a && a < b ? a : b);

/** On the whole minute, so that concurrent invocations set the same one-shot. */
export const wholeMinuteFrom = (moment: Date): Date =>
  new Date(Math.ceil(moment.getTime() / minutes(1)) * minutes(1));

/** How long a node may take to join; after that the sweep marks it. */
export const longestBoot: Duration = minutes(10);

/** The delay before nodes that boot are looked for again: short at first, longer later. */
function delayOf(awaitedSince: Date | undefined, now: Date): Duration | undefined {
  if (!awaitedSince) return undefined;
  const age = now.getTime() - awaitedSince.getTime();
  if (age >= longestBoot) return undefined;
  if (age < minutes(2)) return seconds(10);
  return age < minutes(4) ? seconds(30) : minutes(1);
}
