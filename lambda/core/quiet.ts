import { after, type Duration, hours, later } from "./duration.ts";
import { newsIn } from "./figures.ts";
import { endOf, mostAhead, notJustBefore } from "./launches.ts";
import type { Launch } from "./ports.ts";
import type { Quiet, Request, ScopeRecord } from "./record.ts";
import { present } from "./requests.ts";
import type { Rules } from "./rules.ts";

/** A pause that is forgotten must not leave the nodes without protection for ever. */
export const usualPause: Duration = hours(24);

/** What is silenced by hand or by a breather. A pause or a release of the whole cluster counts in every scope. */
export type Silence = Readonly<{
  /** Launches before this time count for nothing, however late they are reported. */
  launchesCountFrom: Date;
  /** Everything from before this time is over. */
  releasedAt: Date;
  /** Why. */
  released?: string;
  /** The pause that is on, or else the breather. */
  quiet?: Quiet;
  /** The pause or breather that ends last, also where it is over. */
  last?: Quiet;
}>;

const never = new Date(0);

/** What a clock has written that was wrong must not silence launches until then. */
export const isPossible = (at: Date, now: Date): boolean => at <= after(now, mostAhead);

export function silenceOf(record: ScopeRecord, whole: ScopeRecord | undefined, now: Date): Silence {
  const records = [record, ...(whole ? [whole] : [])];
  const releases = records.flatMap(({ released }) =>
    released && isPossible(released.at, now) ? released : [],
  );
  // A breather is of its own scope: the cluster's may be from before the setting scope changed.
  const quiets = records.flatMap(({ quiet }) =>
    quiet && isPossible(quiet.since, now) && (quiet.kind === "paused" || quiet === record.quiet) ? quiet : [],
  );
  const releasedAt = releases.map(({ at }) => at).reduce(later, never);
  const launchesCountFrom = quiets.map(({ until }) => until).reduce(later, releasedAt);
  const released = releases.find(({ at }) => at.getTime() === releasedAt.getTime());
  const last = quiets.find(({ until }) => until.getTime() === launchesCountFrom.getTime());
  const on = quiets.filter(({ until }) => until > now).toSorted(byWeight);
  return {
    launchesCountFrom,
    releasedAt,
    ...(released && { released: released.because }),
    ...(on[0] && { quiet: on[0] }),
    ...(last && { last }),
  };
}

/** The requests of which anything is still to be known. A release ends those from before it, and a pause none: they go on after it. */
export const requestsThatCount = (
  { requests }: ScopeRecord,
  { releasedAt }: Silence,
  now: Date,
): readonly Request[] =>
  present(requests, now).map((one) => (one.at < releasedAt ? { releasedAt, ...one } : one));

/** Why launches or requests hold no longer before their own end; undefined where that has come. */
export function whyCut(record: ScopeRecord, silence: Silence, rules: Rules): string | undefined {
  const { launchHold, requests } = record;
  const { quiet, last, released, releasedAt } = silence;
  if (quiet?.kind === "paused") return `paused by hand: ${quiet.because}`;
  const times = [
    ...(launchHold ? [launchHold.lastLaunchAt] : []),
    ...requests.flatMap((one) => (one.releasedAt ? [] : one.at)),
  ];
  if (released && times.some((at) => at < releasedAt)) return `released by hand: ${released}`;
  // A pause or breather that is over may have begun before the end of the launch hold.
  const isCut =
    last && launchHold && launchHold.lastLaunchAt < last.until && endOf(launchHold, rules).at > last.since;
  return isCut ? describeQuiet(last) : undefined;
}

type Reported = Readonly<{ launches: readonly Launch[]; seen: ScopeRecord["seen"]; now: Date }>;

/**
 * The launches, by when they count: one in the second in which a pause, a breather or a release ends counts from that end,
 * unless it was known before.
 */
export function byWhenTheyCount(
  { launchesCountFrom: end }: Silence,
  { launches, seen, now }: Reported,
): readonly Launch[] {
  if (end >= now) return launches;
  const ofThatSecond = launches.filter(({ launchedAt }) => notJustBefore(launchedAt, end) !== launchedAt);
  const counted = ofThatSecond.filter(({ instance }) => (seen[instance] ?? never) >= end);
  const fromThere = new Set([...newsIn(ofThatSecond, seen, now), ...counted]);
  return launches.map((launch) => (fromThere.has(launch) ? { ...launch, launchedAt: end } : launch));
}

/** A pause before a breather, and then the one that lasts longer. */
const byWeight = (a: Quiet, b: Quiet): number =>
  Number(b.kind === "paused") - Number(a.kind === "paused") || b.until.getTime() - a.until.getTime();

export const isPaused = ({ quiet }: Silence): boolean => quiet?.kind === "paused";

/** A pause or breather in one line. */
export function describeQuiet({ kind, until, because }: Quiet): string {
  return `${kind === "paused" ? "paused by hand" : "breather"} until ${until.toISOString()}: ${because}`;
}
