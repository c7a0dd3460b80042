import { isDeepStrictEqual } from "node:util";
import { type Demand, type DemandFacts, demandOf } from "./demand.ts";
import { after, earlier, latest } from "./duration.ts";
import { figuresAfter, newsIn, seenAfter } from "./figures.ts";
import { isDelayOver } from "./launches.ts";
import { looksOf, type NextMessage } from "./looks.ts";
import { observe } from "./observed.ts";
import { type AutoFigures, type Verdict, withoutNodes } from "./pays.ts";
import type { Launch } from "./ports.ts";
import { noFigures, type PastHold, type ScopeRecord } from "./record.ts";
import { dueOf } from "./requests.ts";
import { type Rules, whyLeftOut } from "./rules.ts";
import { capped, startOrEnd } from "./start-or-end.ts";

export type PlanFacts = DemandFacts &
  Readonly<{
    /** The record as it was read, where somebody asks for a change of it. */
    stored?: ScopeRecord;
    newId: string;
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
  /** The message to send. */
  message?: NextMessage;
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
  const { record, rules, now } = facts;
  const demand = demandOf(facts);
  const { until, resumesAt, asked, launchHold } = demand;
  const isRequested = asked.length > 0;
  const launches = seenIn(demand, facts);
  const next = recordAfter(facts, demand, launches.news);
  const started = startOrEnd({ ...facts, ...demand, next });
  const goesOn = until !== undefined && launchHold !== undefined && !launchHold.isEnding;
  const since = facts.nodes?.since && { ...facts.nodes.since, ...(isRequested && { letGo: 0 }) };
  const { counted } = launches;
  const figured = { ...facts, ...demand, isRequested, goesOn, counted, since };
  const remembered = withFigures(started.record, figured);
  const requestedUntil = latest(asked.map((one) => one.until));
  const looks = looksOf({ ...facts, record: started.record, until, resumesAt, requestedUntil });
  const written = { ...remembered, looks: looks.looks };
  const dueAt = dueOf(record, rules);
  return {
    record: written,
    isChanged: !isDeepStrictEqual(written, record),
    ...(until && { until }),
    isRequested,
    because: started.because,
    ...(started.past && { past: started.past }),
    ...launches,
    steps: stepsOf(record, written),
    ...(looks.oneShot && { oneShot: looks.oneShot }),
    ...(looks.message && { message: looks.message }),
    ...(started.isEnd && { dueAt: dueAt ? earlier(dueAt, now) : now }),
    ...(facts.nodes?.verdicts && { verdicts: goesOn && !isRequested ? facts.nodes.verdicts : [] }),
    ...(goesOn && since && { since }),
  };
}

/** Launches whose initial delay is over: those that were not seen before, those that are counted, and those that hold nothing. */
function seenIn(
  { until, launches, silence }: Demand,
  { record, rules, now }: PlanFacts,
): Pick<Plan, "news" | "counted" | "ignored"> {
  const due = launches.filter((launch) => isDelayOver(launch, rules, now));
  const news = newsIn(due, record.seen, seenBy(rules, now));
  const counts = ({ launchedAt }: Launch) => earlier(launchedAt, now) >= silence.launchesCountFrom;
  const counted = until ? news.filter(counts) : [];
  const known = new Set([...Object.keys(record.seen), ...counted.map(({ instance }) => instance)]);
  return { news, counted, ignored: due.filter(({ instance }) => !known.has(instance)) };
}

/** Launches are new, and remembered, from the end of their initial delay on. */
const seenBy = ({ initialDelay }: Rules, now: Date): Date => after(now, -initialDelay);

/** The record by now, but for the hold itself and what is remembered of it. */
function recordAfter(
  { record, rules, now }: PlanFacts,
  { launchHold, end, isOver, requests }: Demand,
  news: readonly Launch[],
): ScopeRecord {
  const { launchHold: _, quiet, ...rest } = record;
  // A breather of a scope that the settings no longer name would silence those that they name.
  const isKept = whyLeftOut(rules, record.scope) === undefined;
  const breather = {
    kind: "breather",
    since: now,
    until: after(now, rules.breather),
    because: capped,
  } as const;
  return {
    ...rest,
    ...(launchHold && !isOver && isKept && { launchHold }),
    ...(isOver && end?.isCapped && isKept ? { quiet: breather } : quiet && { quiet }),
    requests,
    seen: seenAfter(record.seen, news, seenBy(rules, now)),
  };
}

type FigureFacts = PlanFacts &
  Demand &
  Pick<Plan, "isRequested" | "counted"> &
  Readonly<{ goesOn: boolean; since: AutoFigures | undefined }>;

/** The record with what is remembered of its nodes, and with what history will report. */
function withFigures(started: ScopeRecord, facts: FigureFacts): ScopeRecord {
  const { nodes, rules, counted, since } = facts;
  const { account: _, hold: held, ...record } = started;
  const account = accountAfter(facts);
  const figures = figuresAfter({ ...facts, next: started, nodes: nodes && { ...nodes, since } });
  if (!held) return { ...record, ...(account && { account }), figures };
  const { watched: before, ...hold } = held;
  const watching = { ...facts, before: record.figures.observed, watched: before, letGo: account?.letGo };
  const { observed, watched } =
    rules.mode === "observe" ? observe({ ...watching, launches: counted.length }) : {};
  return {
    ...record,
    hold: { ...hold, ...(watched && { watched }) },
    ...(account && { account }),
    figures: { ...figures, ...(observed && { observed }) },
  };
}

/** The account goes on as long as launches hold; what was learned stays. A request holds all nodes, so none is let go. */
function accountAfter({ nodes, record, rules, goesOn, isRequested }: FigureFacts): ScopeRecord["account"] {
  const account = nodes?.account ?? record.account;
  if (!account) return undefined;
  if (!goesOn || !rules.auto) return withoutNodes(account);
  return isRequested ? { ...account, letGo: {} } : account;
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
