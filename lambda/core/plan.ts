import { isDeepStrictEqual } from "node:util";
import { after, type Duration, earlier, latest } from "./duration.ts";
import { figuresAfter, type NodeFacts, newsIn, seenAfter } from "./figures.ts";
import { endOf, isDelayOver, launchesThatHold, launchHoldAfter, untilJobsEnd } from "./launches.ts";
import { looksOf } from "./looks.ts";
import { observe } from "./observed.ts";
import { type AutoFigures, type Verdict, withoutNodes } from "./pays.ts";
import type { Launch } from "./ports.ts";
import {
  byWhenTheyCount,
  describeQuiet,
  isPaused,
  requestsThatCount,
  type Silence,
  silenceOf,
  whyCut,
} from "./quiet.ts";
import {
  type Hold,
  type LaunchHold,
  noFigures,
  type PastHold,
  pastOf,
  type Request,
  type ScopeRecord,
  withNewHold,
} from "./record.ts";
import { dueOf, isOn } from "./requests.ts";
import { type Rules, whyLeftOut } from "./rules.ts";

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
  /** The settings have `hold=auto`, but the rights for that are missing. */
  isLimited?: boolean;
  now: Date;
  newId: string;
  /** Whether messages can be sent; else the next sweep looks for nodes that have not joined yet. */
  canQueue: boolean;
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
  /** With `hold=auto`, where this pass has read the pods: what it decided of nodes, and what happened since the last look. */
  verdicts?: readonly Verdict[];
  since?: AutoFigures;
}>;

/** Compares what is recorded with what should be at this time. The same facts always give the same plan. */
export function planScope(facts: PlanFacts): Plan {
  const { record, whole, rules, now } = facts;
  const silence = silenceOf(record, whole, now);
  const launches = byWhenTheyCount(silence, { ...facts, seen: record.seen });
  const isKept = whyLeftOut(rules, record.scope) === undefined;
  const countFrom = silence.launchesCountFrom;
  const ofLaunches = { before: record.launchHold, launches, countFrom, rules, now };
  const launchHold = untilJobsEnd(withLimit(launchHoldAfter(ofLaunches), facts), facts);
  const end = launchHold && endOf(launchHold, rules);
  const isOver = end !== undefined && end.at <= now;
  // A breather of a scope that the settings no longer name would silence those that they name.
  const wasCapped = isOver && end.isCapped && isKept;
  const requests = requestsThatCount(record, silence, now);
  const asked = requests.filter((one) => isOn(one, now));
  const requested = asked.map((one) => one.until);
  // A request holds all nodes, so none goes.
  const since = facts.nodes?.since && { ...facts.nodes.since, ...(asked.length > 0 && { letGo: 0 }) };
  const nodes = facts.nodes && { ...facts.nodes, since };
  const ends = [...(end && !isOver ? [end.at] : []), ...requested];
  const until = isKept && !isPaused(silence) ? latest(ends) : undefined;
  const due = launches.filter((launch) => isDelayOver(launch, rules, now));
  const news = newsIn(due, record.seen, now);
  const counted = until ? news.filter(({ launchedAt }) => earlier(launchedAt, now) >= countFrom) : [];
  const known = new Set([...Object.keys(record.seen), ...counted.map(({ instance }) => instance)]);
  const { launchHold: _, quiet, ...rest } = record;
  const next: ScopeRecord = {
    ...rest,
    ...(launchHold && !isOver && isKept && { launchHold }),
    ...(wasCapped
      ? { quiet: { kind: "breather", since: now, until: after(now, rules.breather), because: capped } }
      : quiet && { quiet }),
    requests,
    seen: seenAfter(record.seen, news, now),
  };
  const holding = launchesThatHold(ofLaunches);
  const started = startOrEnd({ ...facts, next, until, silence, wasCapped, asked, holding });
  const { watched: _w, account: _a, ...unwatched } = started.record;
  const goesOn = until !== undefined && launchHold !== undefined && !launchHold.isEnding;
  const { account } = accountAfter(facts, goesOn, asked.length > 0);
  const watching = { ...facts, next: started.record, until, isRequested: asked.length > 0 };
  const { observed, watched } = observedAfter({ ...watching, launches: counted.length, account });
  const figures = figuresAfter({ ...facts, nodes, next: started.record, until, counted, asked, end });
  const planned: ScopeRecord = {
    ...unwatched,
    ...(watched && { watched }),
    ...(account && { account }),
    figures: { ...figures, ...(observed && { observed }) },
  };
  const looks = looksOf({ ...facts, until, requestedUntil: latest(requested) });
  const written = planned.hold ? { ...planned, looks: looks.looks } : planned;
  const dueAt = dueOf(record, rules);
  return {
    record: written,
    isChanged: !isDeepStrictEqual(written, record),
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
    ...(nodes?.verdicts && { verdicts: goesOn && asked.length === 0 ? nodes.verdicts : [] }),
    ...(goesOn && since && { since }),
  };
}

/** Remembers whether rights are missing, so that everything that reads the record knows the end of its hold. */
function withLimit(
  hold: LaunchHold | undefined,
  { record, rules, nodes, isLimited }: PlanFacts,
): LaunchHold | undefined {
  if (!hold) return undefined;
  const { isConstant: _, ...rest } = hold;
  const isUnknown = rules.auto && !nodes;
  const isConstant = isUnknown ? record.launchHold?.isConstant : isLimited;
  return { ...rest, ...(isConstant && { isConstant }) };
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
  return requests > 0 ? "the settings leave it out" : "no launch and no request counts";
}

function whyOver(facts: StartFacts, hold: Hold): string {
  const { record, stored = record, rules, silence, wasCapped } = facts;
  const leftOut = whyLeftOut(rules, record.scope);
  const cut = leftOut ?? whyCut(record, silence, rules) ?? (wasCapped ? capped : undefined);
  if (cut) return cut;
  // What is released now, or was released during this hold: the clock that started it may have been ahead.
  const before = new Map(stored.requests.map(({ name, releasedAt }) => [name, releasedAt]));
  const released = record.requests.filter(
    ({ name, releasedAt }) => releasedAt && (releasedAt >= hold.startedAt || !before.get(name)),
  );
  const names = released.map(({ name }) => name).join(", ");
  return released.length > 0 ? `released by hand: ${names}` : "the hold expired";
}

type WatchFacts = Pick<PlanFacts, "nodes" | "rules" | "now"> &
  Readonly<{ next: ScopeRecord; until: Date | undefined; isRequested: boolean; launches: number }> &
  Readonly<{ account: ScopeRecord["account"] | undefined }>;

/** With `mode=observe`, what became of the nodes that would be held. */
function observedAfter({ next, account, ...facts }: WatchFacts): Partial<ReturnType<typeof observe>> {
  if (facts.rules.mode !== "observe" || !next.hold) return {};
  const { figures, watched } = next;
  return observe({ ...facts, before: figures.observed, watched, letGo: account?.letGo });
}

/** The account goes on as long as launches hold; what was learned stays. A request holds all nodes, so none is let go. */
function accountAfter(
  { nodes, record, rules }: PlanFacts,
  isOn: boolean,
  isRequested: boolean,
): Pick<ScopeRecord, "account"> {
  const account = nodes?.account ?? record.account;
  if (!account) return {};
  if (!isOn || !rules.auto) return { account: withoutNodes(account) };
  return { account: isRequested ? { ...account, letGo: {} } : account };
}
