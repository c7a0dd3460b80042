import { after, type Duration, earlier, earliest, hours, later, minutes, seconds } from "./duration.ts";
import type { Launch } from "./ports.ts";
import type { LaunchHold } from "./record.ts";
import type { Rules } from "./rules.ts";

/** Nodes that run Jobs stay held for so long after the end of a hold, or until the Jobs are done. */
export const jobsEndWithin: Duration = hours(24);

/** The same, as if no node ran a Job. */
export const withoutJobs = ({ isEnding: _, ...rest }: LaunchHold): LaunchHold => rest;

/** When a launch hold ends, and whether it would last longer without the cap. */
export function endOf(
  { startedAt, lastLaunchAt, isConstant, isEnding }: LaunchHold,
  { hold, auto, maxHold }: Limits,
) {
  if (auto && !isConstant)
    return { at: after(lastLaunchAt, maxHold + (isEnding ? jobsEndWithin : 0)), isCapped: false };
  const asked = after(lastLaunchAt, hold);
  if (maxHold === 0) return { at: asked, isCapped: false };
  const cap = after(startedAt, maxHold);
  return { at: earlier(asked, cap), isCapped: cap < asked };
}

type Limits = Pick<Rules, "hold" | "auto" | "maxHold">;

/** At its end a hold waits for the nodes that run Jobs. Where it is not known whether there are any, nothing ends. */
export function untilJobsEnd(
  hold: LaunchHold | undefined,
  {
    rules,
    nodes,
    now,
  }: Readonly<{
    rules: Limits;
    nodes?: Readonly<{ withJobs?: ReadonlySet<string> | undefined }> | undefined;
    now: Date;
  }>,
): LaunchHold | undefined {
  if (!hold) return undefined;
  const rest = withoutJobs(hold);
  const waits = rules.auto && !hold.isConstant && nodes?.withJobs?.size !== 0;
  return waits && endOf(rest, rules).at <= now ? { ...rest, isEnding: true } : rest;
}

/** How long one launch holds. */
export const lengthOf = ({ hold, auto, maxHold }: Limits): Duration => (auto ? maxHold : hold);
type Facts = Readonly<{
  before?: LaunchHold | undefined;
  launches: readonly Launch[];
  /** Earlier launches do not count. */
  countFrom: Date;
  rules: Limits & Pick<Rules, "initialDelay">;
  /** The settings have `hold=auto`, but the rights for that are missing. */
  isLimited?: boolean | undefined;
  now: Date;
}>;

/** No clock is further ahead, or it is wrong: a time that such a one has written must not hold until then. */
export const mostAhead: Duration = minutes(10);

/** Times of events have whole seconds: one in the second of an end may have come after it, and counts from there. */
export const notJustBefore = (at: Date, end: Date): Date => (at < end && at >= secondOf(end) ? end : at);

const secondOf = (time: Date): Date => new Date(Math.floor(time.getTime() / seconds(1)) * seconds(1));

const notLaterThan = (hold: LaunchHold, latest: Date): LaunchHold => ({
  ...hold,
  startedAt: earlier(hold.startedAt, latest),
  lastLaunchAt: earlier(hold.lastLaunchAt, latest),
});

/** The launch hold by now, over or not; undefined where there is none. Only the newest launch matters, whatever order they come in. */
export function launchHoldAfter(facts: Facts): LaunchHold | undefined {
  const { before, countFrom, now } = facts;
  const goesOn = before && before.lastLaunchAt >= countFrom && !isLongOver(before, facts);
  const went = goesOn ? notLaterThan(before, after(now, mostAhead)) : undefined;
  const counting = launchesThatHold(facts).map(({ launchedAt }) => earlier(launchedAt, now));
  const [first] = counting;
  if (!first) return went;
  const lastLaunchAt = counting.reduce(later, went?.lastLaunchAt ?? first);
  return { startedAt: went?.startedAt ?? now, lastLaunchAt };
}

/** One-shots come within a minute or two, and sweeps every few minutes. */
const mostLate: Duration = minutes(10);

/**
 * A constant hold that was over so long before a pass counts no more: the next launch must not reach its cap at once, and be
 * left without a hold. One that pays still waits for Jobs.
 */
function isLongOver({ lastLaunchAt, isConstant }: LaunchHold, { rules, isLimited, now }: Facts): boolean {
  const pays = !isConstant && (rules.auto || isLimited);
  return !pays && after(lastLaunchAt, rules.hold + mostLate) <= now;
}

/** Those after which nodes are still to be held now. */
export const launchesThatHold = ({ launches, countFrom, rules, now }: Facts): readonly Launch[] =>
  launches.filter((launch) => {
    const at = earlier(launch.launchedAt, now);
    return at >= countFrom && isDelayOver(launch, rules, now) && after(at, lengthOf(rules)) > now;
  });

/** Whether the initial delay of a launch is over. */
export const isDelayOver = (
  { launchedAt }: Launch,
  { initialDelay }: Pick<Rules, "initialDelay">,
  now: Date,
): boolean => after(earlier(launchedAt, now), initialDelay) <= now;

/** When the first launch whose initial delay is not over begins to count. */
export function nextDelayEnd(
  launches: readonly Launch[],
  { initialDelay }: Rules,
  now: Date,
): Date | undefined {
  const ends = launches.map(({ launchedAt }) => after(earlier(launchedAt, now), initialDelay));
  return earliest(ends.filter((end) => end > now));
}
