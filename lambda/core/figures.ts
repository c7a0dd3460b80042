import { after, type Duration, earlier, minutes } from "./duration.ts";
import { type endOf, withoutJobs } from "./launches.ts";
import type { Account, AutoFigures, Verdict } from "./pays.ts";
import type { Launch } from "./ports.ts";
import type { Figures, Request, ScopeRecord } from "./record.ts";
import { untilOf } from "./requests.ts";
import type { Rules } from "./rules.ts";

/** The nodes that a hold protects, and since when the youngest launch waits for its node. */
export type NodeFacts = Readonly<{
  holdable: readonly string[];
  /** The names of all nodes of the scope. */
  present: ReadonlySet<string>;
  awaitedSince?: Date | undefined;
  nextDriftEnd?: Date | undefined;
  /** With `hold=auto`, the account of the nodes by now, where this pass has read the pods. */
  account?: Account | undefined;
  /** What was decided of each of them. */
  verdicts?: readonly Verdict[] | undefined;
  /** What `hold=auto` found since the last look. */
  since?: AutoFigures | undefined;
  /** How many pods are on a node, by its name, where they were read and nobody removes it. */
  pods?: ReadonlyMap<string, number> | undefined;
  /** With `hold=auto`, the nodes that are marked and run Jobs, where the pods were read. */
  withJobs?: ReadonlySet<string> | undefined;
  /** With `hold=auto`, when the pods are to be read next. */
  nextReadAt?: Date | undefined;
}>;

/** Duplicates of an event come within minutes. An older launch was counted, or is not counted any more. */
export const seenKept: Duration = minutes(15);
/** Longer, because three functions each differ by up to a minute: which counts, which forgets, which has the duplicate. */
const remembered: Duration = seenKept + minutes(3);
const mostSeen = 500;

/** The launches that were not counted before, each once. */
export function newsIn(launches: readonly Launch[], seen: ScopeRecord["seen"], now: Date): readonly Launch[] {
  const times = Object.values(seen);
  const oldest = after(now, -seenKept);
  // Where the record has no room for more, what is older than all that it names may have been forgotten.
  const countFrom = times.length < mostSeen ? oldest : times.reduce(earlier, now);
  const news = launches.filter(
    ({ instance, launchedAt }) => launchedAt > countFrom && seen[instance] === undefined,
  );
  return [...new Map(news.map((launch) => [launch.instance, launch])).values()];
}

export function seenAfter(
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

/** When launches and requests end, whatever Jobs run then. */
const endWithoutJobs = ({ launchHold, ...record }: ScopeRecord, rules: Rules): Date | undefined =>
  untilOf({ ...record, ...(launchHold && { launchHold: withoutJobs(launchHold) }) }, rules);

/** Adds up what history reports. */
export function figuresAfter(facts: FigureFacts): Figures {
  const { record, stored = record, next, nodes, until, counted, asked, end, rules } = facts;
  const { observed: _, ...figures } = next.figures;
  if (!next.hold || !until) return figures;
  const launches = new Map(Object.entries(figures.launches));
  for (const { nodePool } of counted) {
    const name = launches.has(nodePool) || launches.size < mostNames ? nodePool : "others";
    launches.set(name, (launches.get(name) ?? 0) + 1);
  }
  const isSame = stored.hold?.id === next.hold.id;
  const before = isSame ? endWithoutJobs(stored, rules) : undefined;
  const moved = endWithoutJobs(next, rules);
  const requests = [...new Set([...figures.requests, ...asked.map(({ reason }) => reason)])];
  return {
    launches: Object.fromEntries(launches),
    extensions: figures.extensions + (before && moved && moved > before ? 1 : 0),
    nodes: Math.max(figures.nodes, nodes?.holdable.length ?? 0),
    capped: figures.capped || (end?.isCapped ?? false),
    requests: requests.slice(0, mostNames),
    superfluous: figures.superfluous + (nodes?.since?.superfluous ?? 0),
    letGo: figures.letGo + (nodes?.since?.letGo ?? 0),
    spared: figures.spared + (nodes?.since?.spared ?? 0),
    evictionsSpared: figures.evictionsSpared + (nodes?.since?.evictionsSpared ?? 0),
  };
}
