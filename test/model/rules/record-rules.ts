import { isDeepStrictEqual } from "node:util";
import { after, hours, minutes } from "../../../lambda/core/duration.ts";
import type { LaunchHold, Quiet, Request, ScopeRecord } from "../../../lambda/core/record.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import { wholeSecond } from "../../../simulator/fake-ec2.ts";
import type { World } from "../../../simulator/world.ts";
import type { Karpenter } from "../karpenter.ts";
import { askedOf, wishesOf } from "./inputs.ts";
import { must } from "./must.ts";
import {
  beginsBreather,
  belongs,
  isCapped,
  isWithin,
  latest,
  launchEnd,
  lengthOf,
  releasedAt,
  silencedUntil,
} from "./oracle.ts";
import { checkWasted } from "./pays-rules.ts";
import type { Written } from "./records.ts";

const isSame = (a: Date | undefined, b: Date | undefined): boolean => a?.getTime() === b?.getTime();
const isBetween = (at: Date, from: Date, to: Date): boolean => at >= from && at <= to;

/** Whether a constant hold has been over for ten minutes, though no pass has ended it. */
const isLongOver = ({ lastLaunchAt }: LaunchHold, { auto, hold }: Rules, at: Date): boolean =>
  !auto && after(lastLaunchAt, hold + minutes(10)) <= at;

/** How the parts of a record that decide may change in one write. */
export class RecordRules {
  readonly #world: World;
  readonly #karpenter: Karpenter;

  constructor(world: World, karpenter: Karpenter) {
    this.#world = world;
    this.#karpenter = karpenter;
  }

  check(written: Written): void {
    checkSize(written);
    checkReleased(written);
    checkQuiet(written);
    checkRequests(written);
    this.#checkLaunchHold(written);
    this.#checkLeftAlone(written);
    checkWasted(this.#karpenter, written);
  }

  /** Karpenter has ten minutes for a node, from when it may take it; one that it does not take has an hour with its mark. */
  #checkLeftAlone({ by, before, record, from, to, facts }: Written): void {
    for (const [name, until] of Object.entries(record.account?.leftAlone ?? {})) {
      const node = this.#world.nodes.get(name);
      const since = this.#karpenter.loads.get(name)?.since;
      const old = before.account?.leftAlone[name];
      const isLeft = isSame(until, old) || isBetween(until, after(from, hours(1)), after(to, hours(1)));
      must(isLeft, "a node that nobody takes is left alone for an hour", facts);
      // What has changed since it read is not known.
      if (!node || old || (since && since >= by.begunAt)) continue;
      const takeable = this.#karpenter.takeableSince(node);
      const isFair = takeable !== undefined && after(takeable, minutes(10)) <= to;
      must(isFair, "no node is left alone before Karpenter had ten minutes for it", facts);
    }
  }

  /** Launches hold together: from the first to `hold` after the last, or to the cap. */
  #checkLaunchHold({ by, scope, before, record, from, to, known, facts }: Written): void {
    const { settings } = by;
    const old = before.launchHold;
    const now = record.launchHold;
    const silenced = (at: Date) => known.some((one) => at < silencedUntil(one));
    const isStart = now !== undefined && !isSame(now.startedAt, old?.startedAt);
    const isForgotten = (at: Date) => old !== undefined && isLongOver(old, settings, at);
    if (isStart) {
      must(isBetween(now.startedAt, from, to), "a launch hold starts when it is recorded", facts);
      const mayStart = !old || silenced(old.lastLaunchAt) || isForgotten(to);
      must(mayStart, "the cap counts from the first of all launches without a break", facts);
    } else if (now && old) {
      must(now.lastLaunchAt >= old.lastLaunchAt, "the last launch never moves back", facts);
      // One that starts at the very time of the former start has followed it.
      const isNew = isBetween(now.startedAt, from, to);
      must(isNew || !isForgotten(from), "a launch hold that was over long ago counts no more", facts);
    }
    if (now && !isSame(now.lastLaunchAt, old?.lastLaunchAt)) {
      const at = now.lastLaunchAt;
      const launches = this.#karpenter.launches.filter(({ pool }) => isWithin(scope, pool));
      const times = launches.flatMap((one) => one.times);
      // By a clock that is behind, a launch may be in the future; then it counts from now.
      // And one in the second in which a pause, a breather or a release ended counts from the end.
      const isEnd = known.some((one) => isSame(at, silencedUntil(one)));
      const isLaunch = times.some(
        (time) =>
          isSame(time, at) ||
          (time > at && isBetween(at, from, to)) ||
          (isEnd && isSame(time, wholeSecond(at))),
      );
      must(isLaunch, "nothing but a launch of the scope extends a launch hold", facts);
      must(!known.every((one) => at < silencedUntil(one)), "a launch that was silenced holds nothing", facts);
      must(after(at, settings.initialDelay) <= to, "nothing is held before the initial delay", facts);
      must(after(at, lengthOf(settings)) > from, "a launch that is too old holds nothing", facts);
    }
    const waitsForJobs = now?.isEnding && belongs(settings, scope);
    must(
      !waitsForJobs || launchEnd({ ...now, isEnding: false }, settings) <= to,
      "a launch hold waits for Jobs at its end alone",
      facts,
    );
    if (!old || (now && !isStart) || !belongs(settings, scope) || silenced(old.lastLaunchAt)) return;
    const isTime = launchEnd({ ...old, isEnding: false }, settings) <= to;
    must(isTime, "no launch hold ends before its time", facts);
    const isBreather = beginsBreather(before, record);
    must(
      isBreather || isForgotten(to) || !isCapped(old, settings),
      "after a launch hold that reached its cap comes a breather",
      facts,
    );
  }
}

/** A record is read and written as a whole at every launch. */
function checkSize({ record, facts }: Written): void {
  must(Object.keys(record).length <= 12, "a record has no more than a dozen fields", facts);
  must(Object.keys(record.seen).length <= 500, "a record remembers a bounded number of launches", facts);
}

function checkReleased({ by, scope, before, record, from, to, facts }: Written): void {
  const old = before.released;
  const now = record.released;
  if (isDeepStrictEqual(old, now)) return;
  const asked = askedOf(by);
  const isForced = asked?.do === "release" && asked.name === undefined;
  must(isForced && asked.scope === scope, "only a forced release ends everything", facts);
  must(now !== undefined && now.at >= (old?.at ?? now.at), "a forced release is never undone", facts);
  const { askedAt = to } = asked;
  const isInTime = isSame(now.at, askedAt) || (isBetween(now.at, from, to) && now.at <= askedAt);
  must(isInTime, "a forced release counts from when it was asked for", facts);
  // A person's release keeps the id of the last invocation, whose retries may come later.
  const isRetry = by.name === "release" && now.by !== undefined && now.by === old?.by;
  must(!isRetry, "a retry releases nothing that began since", facts);
}

function checkQuiet(written: Written): void {
  const { by, scope, before, record, from, to, facts } = written;
  const old = before.quiet;
  const now = record.quiet;
  if (isDeepStrictEqual(old, now)) return;
  must(now !== undefined, "a pause or a breather is not forgotten", facts);
  if (beginsBreather(before, record)) {
    checkBreather(written, now);
    return;
  }
  const asked = askedOf(by);
  if (asked?.do === "resume") {
    must(asked.scope === "cluster" || asked.scope === scope, "only its own scope or all are resumed", facts);
    must(old !== undefined && now.until <= old.until, "a resume makes nothing longer", facts);
    must(now.until <= to, "launches count from a resume on", facts);
    return;
  }
  must(asked?.do === "pause" && asked.scope === scope, "nothing but a pause pauses its scope", facts);
  const { for: length = hours(24) } = asked;
  const isAsked = isBetween(now.until, after(from, length), after(to, length));
  must(now.kind === "paused" && isAsked, "a pause lasts as long as was asked for", facts);
}

function checkBreather({ by, before, record, from, to, facts }: Written, { until }: Quiet): void {
  const { breather, maxHold } = by.settings;
  const { launchHold } = before;
  const isCapReached =
    launchHold &&
    maxHold > 0 &&
    after(launchHold.startedAt, maxHold) <= to &&
    !isLongOver(launchHold, by.settings, from);
  must(
    isCapReached === true && !record.launchHold,
    "a breather follows a launch hold that reached its cap",
    facts,
  );
  must(
    isBetween(until, after(from, breather), after(to, breather)),
    "a breather lasts as the settings say",
    facts,
  );
}

/** A request lasts until its own end; only who asked for it, or a release, changes that. */
function checkRequests(written: Written): void {
  const { by, scope, before, record, to, known, facts } = written;
  const asked = askedOf(by);
  const isReleasing = asked?.do === "release" && asked.scope === scope;
  for (const old of before.requests) {
    const now = record.requests.find(({ name }) => name === old.name);
    const isOver = old.until <= to || known.some((one) => old.at < releasedAt(one));
    must(now !== undefined || isOver, "a request lasts until its own end", facts);
    if (!now || isDeepStrictEqual(now, old)) continue;
    const { releasedAt: at, ...rest } = now;
    const isReleased = at !== undefined && isDeepStrictEqual(rest, old);
    const isForced = known.some((one) => old.at < releasedAt(one) && isSame(at, releasedAt(one)));
    const mayRelease = isForced || (isReleasing && asked.name === old.name);
    if (isReleased) must(mayRelease, "a request is released by its name, or with all others", facts);
    else must(isWished(written, now), "nothing but the same request changes it", facts);
    const isAgain = old.releasedAt !== undefined && !at && now.cause !== "person";
    const isNews = now.at > old.at && (!old.releasedAt || now.at >= wholeSecond(old.releasedAt));
    // It is remembered until its end: one of the same name that comes after that is another.
    must(!isAgain || isNews || old.until <= to, "a duplicate brings back no released request", facts);
    const isByHand = old.cause === "person" && now.cause !== "person" && !isOver && !isReleased;
    must(!isByHand || now.at > old.at, "what a person asks for is changed by no event from before", facts);
    const mayShorten = isReleased || now.cause === "person" || old.releasedAt !== undefined || isOver;
    must(mayShorten || now.until >= old.until, "an event or a window never shortens a request", facts);
  }
  const isOld = ({ name }: Request) => before.requests.some((one) => one.name === name);
  for (const request of record.requests)
    must(isOld(request) || isWished(written, request), "nothing is held for that nobody asked for", facts);
}

function isWished({ by, scope, from, to, known }: Written, request: Request): boolean {
  const { name, cause, at, until } = request;
  return wishesOf(by).some((wish) => {
    if (wish.name !== name || wish.cause !== cause || wish.scope !== scope || request.releasedAt)
      return false;
    // A person asks after every release that is recorded, whichever clock recorded it.
    const isAfterRelease = cause === "person" && known.some((one) => isSame(releasedAt(one), at));
    const isNow = (isBetween(at, from, to) || isAfterRelease) && (!wish.at || wish.at >= at);
    // And an event in the second of the release.
    const isInDoubt =
      known.some((one) => isSame(releasedAt(one), at)) &&
      wish.at !== undefined &&
      isSame(wholeSecond(wish.at), wholeSecond(at));
    return (isNow || isInDoubt || isSame(wish.at, at)) && isSame(until, after(at, wish.for));
  });
}

/** When what a record names ends, whatever silences it. */
export const rawEnd = ({ launchHold, requests }: ScopeRecord, settings: Written["by"]["settings"]): Date =>
  latest([
    ...(launchHold ? [launchEnd({ ...launchHold, isEnding: false }, settings)] : []),
    ...requests.filter((one) => !one.releasedAt).map(({ until }) => until),
  ]);
