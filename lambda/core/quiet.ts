import { after, type Duration, hours, later, seconds } from "./duration.ts";
import { newsIn } from "./figures.ts";
import { mostAhead } from "./launches.ts";
import type { Launch } from "./ports.ts";
import type { Quiet, ScopeRecord } from "./record.ts";

/** A pause that is forgotten must not leave the nodes without protection for ever. */
export const usualPause: Duration = hours(24);

/** What is silenced by hand or by a breather. A pause or a release of the whole cluster counts in every scope. */
export type Silence = Readonly<{
  /** Launches before this time count for nothing, however late they are reported. */
  launchesCountFrom: Date;
  /** Requests from before this time are over: a release or a pause has ended them. */
  requestsCountFrom: Date;
  /** Why everything from before is over. */
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
  const quiets = records.flatMap(({ quiet }) => (quiet && isPossible(quiet.since, now) ? quiet : []));
  const releasedAt = releases.map(({ at }) => at).reduce(later, never);
  const pauses = quiets.filter(({ kind }) => kind === "paused");
  const requestsCountFrom = pauses.map(({ until }) => until).reduce(later, releasedAt);
  const launchesCountFrom = quiets.map(({ until }) => until).reduce(later, releasedAt);
  const released = releases.find(({ at }) => at.getTime() === releasedAt.getTime());
  const last = quiets.find(({ until }) => until.getTime() === launchesCountFrom.getTime());
  const on = quiets.filter(({ until }) => until > now).toSorted(byWeight);
  return {
    launchesCountFrom,
    requestsCountFrom,
    ...(released && { released: released.because }),
    ...(on[0] && { quiet: on[0] }),
    ...(last && { last }),
  };
}

type Reported = Readonly<{ launches: readonly Launch[]; seen: ScopeRecord["seen"]; now: Date }>;

/**
 * The launches, by when they count. Their times have whole seconds: one in the second in which a pause, a breather or what a
 * release ended may have come after the end, and counts from there, unless it was known before.
 */
export function byWhenTheyCount(
  { launchesCountFrom: end }: Silence,
  { launches, seen, now }: Reported,
): readonly Launch[] {
  if (end >= now) return launches;
  const second = new Date(Math.floor(end.getTime() / seconds(1)) * seconds(1));
  const ofThatSecond = launches.filter(({ launchedAt }) => launchedAt >= second && launchedAt < end);
  const inDoubt = new Set(newsIn(ofThatSecond, seen, now));
  return launches.map((launch) => (inDoubt.has(launch) ? { ...launch, launchedAt: end } : launch));
}

/** A pause before a breather, and then the one that lasts longer. */
const byWeight = (a: Quiet, b: Quiet): number =>
  Number(b.kind === "paused") - Number(a.kind === "paused") || b.until.getTime() - a.until.getTime();

export const isPaused = ({ quiet }: Silence): boolean => quiet?.kind === "paused";

/** A pause or breather in one line. */
export function describeQuiet({ kind, until, because }: Quiet): string {
  return `${kind === "paused" ? "paused by hand" : "breather"} until ${until.toISOString()}: ${because}`;
}
