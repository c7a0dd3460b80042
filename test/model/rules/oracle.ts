import { after, type Duration, hours } from "../../../lambda/core/duration.ts";
import type { LaunchHold, Request, ScopeRecord } from "../../../lambda/core/record.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import { nodePoolOf, type Scope } from "../../../lambda/core/scope.ts";

/** What counts for a scope: its own record and that of the whole cluster, and the settings of the function that asks. */
export type Known = Readonly<{
  record: ScopeRecord;
  whole?: ScopeRecord | undefined;
  settings: Rules;
}>;

export const latest = (dates: readonly Date[]): Date => dates.reduce((a, b) => (a > b ? a : b), new Date(0));

export const scopeFor = ({ scope }: Pick<Rules, "scope">, pool: string): Scope =>
  scope === "cluster" ? "cluster" : `nodepool/${pool}`;

/** Whether the settings let anything hold this scope. */
export const belongs = (settings: Pick<Rules, "scope" | "nodePools">, to: Scope): boolean =>
  settings.scope === "cluster" ? to === "cluster" : isCovered(settings, nodePoolOf(to));

export const isWithin = (scope: Scope, pool: string | undefined): boolean =>
  pool !== undefined && (scope === "cluster" || scope === `nodepool/${pool}`);

/** The settings of the model leave out NodePools by name, and name none to include. */
export const isCovered = (
  { nodePools }: Pick<Rules, "nodePools">,
  pool: string | undefined,
): pool is string => pool !== undefined && !nodePools.except.includes(pool);

/** How long a launch holds. */
export const lengthOf = ({ auto, hold, maxHold }: Rules): Duration => (auto ? maxHold : hold);

/** With auto: for Jobs a hold goes on for a day. */
export const longestJob = hours(24);

/** Launches end together, `hold` after the last, at the latest `maxHold` after the first; with auto `maxHold` after the last. */
export function launchEnd(
  { startedAt, lastLaunchAt, isEnding }: Omit<LaunchHold, "isEnding"> & Readonly<{ isEnding?: boolean }>,
  { auto, hold, maxHold }: Rules,
): Date {
  if (auto) return after(lastLaunchAt, maxHold + (isEnding ? longestJob : 0));
  const cap = startedAt.getTime() + (maxHold || Number.MAX_SAFE_INTEGER);
  return new Date(Math.min(lastLaunchAt.getTime() + hold, cap, 8e15));
}

export const isCapped = (held: LaunchHold, rules: Rules): boolean =>
  launchEnd(held, rules) < after(held.lastLaunchAt, lengthOf(rules));

const records = ({ record, whole }: Known) => [record, ...(whole ? [whole] : [])];

/** Everything that was asked for before was ended by a release. */
export const releasedAt = (known: Known): Date =>
  latest(records(known).flatMap(({ released }) => (released ? [released.at] : [])));

/** Launches from before hold nothing: a release, a pause or the scope's own breather says so. */
export const silencedUntil = (known: Known): Date => {
  const pauses = records(known).flatMap(({ quiet }) => (quiet?.kind === "paused" ? [quiet.until] : []));
  return latest([releasedAt(known), ...pauses, known.record.quiet?.until ?? new Date(0)]);
};

/** Whether a write begins a breather; a resume ends one sooner. */
export const beginsBreather = ({ quiet: old }: ScopeRecord, { quiet: now }: ScopeRecord): boolean =>
  now?.kind === "breather" &&
  // One that is resumed by a clock that is behind has no length.
  now.until > now.since &&
  !(old?.kind === "breather" && old.since.getTime() === now.since.getTime());

export const isPaused = (known: Known, now: Date): boolean =>
  records(known).some(({ quiet }) => quiet?.kind === "paused" && quiet.until > now);

/** The requests that are not over by their release. */
export const requestsOf = (known: Known): readonly Request[] =>
  known.record.requests.filter((one) => !one.releasedAt && one.at >= releasedAt(known));

/** Until when a scope is held; undefined where it is not. A pause may be looked at from another time, where clocks differ. */
export function heldUntil(known: Known, now: Date, pausedAt = now): Date | undefined {
  const { record, settings } = known;
  if (!belongs(settings, record.scope) || isPaused(known, pausedAt)) return undefined;
  const { launchHold } = record;
  const counts = launchHold && launchHold.lastLaunchAt >= silencedUntil(known);
  const ends = [
    ...(counts ? [launchEnd(launchHold, settings)] : []),
    ...requestsOf(known).map(({ until }) => until),
  ];
  const end = latest(ends);
  return end > now ? end : undefined;
}

/** Whether it is held, and whether it is not, by every clock that differs by so much. */
export const isSurelyHeld = (known: Known, now: Date, skew: Duration): boolean =>
  heldUntil(known, after(now, skew), after(now, -skew)) !== undefined;
export const isSurelyFree = (known: Known, now: Date, skew: Duration): boolean =>
  heldUntil(known, after(now, -skew), after(now, skew)) === undefined;
