import { after, hours, later, latest } from "./duration.ts";
import { endOf, mostAhead, notJustBefore } from "./launches.ts";
import type { Request, ScopeRecord } from "./record.ts";
import type { Rules } from "./rules.ts";

/** A request's name or reason is one line of whole characters, because it is printed and stored; a record has room for all. */
export const linePattern = /^[^\p{Cc}\p{Cs}]{1,250}$/u;

/** No window is longer, whatever maxHold and maxRequest say. */
export const longestWindow = hours(24 * 7);

/** A record has room for this many requests; an event may bring any number. */
export const mostRequests = 50;

/** A request is on from when it was made until its end, unless it was released before. */
export const isOn = ({ until, releasedAt }: Request, now: Date): boolean => until > now && !releasedAt;

/** Those of which anything is still to be known: the others are over. */
export const present = (requests: readonly Request[], now: Date): readonly Request[] =>
  requests.map((one) => notLaterThan(one, after(now, mostAhead))).filter(({ until }) => until > now);

/** One that a wrong clock has made in a time to come lasts no longer than it was asked for. */
const notLaterThan = (one: Request, latest: Date): Request =>
  one.at <= latest
    ? one
    : { ...one, at: latest, until: after(latest, one.until.getTime() - one.at.getTime()) };

/** What became of a request, and why. */
export type Granted = Readonly<{
  action: "start" | "extend" | "shorten" | "keep" | "leave" | "refuse";
  because: string;
  requests: readonly Request[];
}>;

/**
 * Adds a request, or changes the one of the same name. A person may also make it shorter. An event or a window only makes
 * it longer: its messages may come twice and in any order, also after a person has released or changed it.
 */
export function withRequest(requests: readonly Request[], asked: Request, now: Date): Granted {
  const others = requests.filter(({ name }) => name !== asked.name);
  const before = requests.find(({ name }) => name === asked.name);
  const unchanged = (action: Granted["action"], because: string) => ({ action, because, requests });
  if (asked.until <= now) return unchanged("leave", "the requested time is over");
  const decidedAt = before?.releasedAt ?? (before?.cause === "person" ? before.at : undefined);
  const isNews = asked.cause === "person" || !before || !decidedAt || isAfter(asked.at, before, decidedAt);
  if (!isNews)
    return unchanged("leave", `the request was ${before.releasedAt ? "released" : "changed by hand"} since`);
  if (!before || before.releasedAt) {
    if (others.filter((one) => isOn(one, now)).length >= mostRequests)
      return unchanged("refuse", `there are ${mostRequests} requests already: release one of them`);
    return { action: "start", because: asked.reason, requests: [...withRoom(others), asked] };
  }
  const until = asked.cause === "person" ? asked.until : later(before.until, asked.until);
  if (until.getTime() === before.until.getTime())
    return unchanged("keep", "the request already lasts as long");
  const action = until > before.until ? "extend" : "shorten";
  return { action, because: asked.reason, requests: [...others, { ...before, ...asked, until }] };
}

/** Whether an event came after what a person decided of one before, or in its second; a duplicate has the same time. */
const isAfter = (at: Date, before: Request, decidedAt: Date): boolean =>
  at > before.at && notJustBefore(at, decidedAt) >= decidedAt;

/** With room for one more: what was released first is forgotten first. */
function withRoom(requests: readonly Request[]): readonly Request[] {
  if (requests.length < mostRequests) return requests;
  const released = requests.filter(({ releasedAt }) => releasedAt).toSorted(byRelease);
  const forgotten = new Set(released.slice(0, requests.length - mostRequests + 1));
  return requests.filter((one) => !forgotten.has(one));
}

const byRelease = (a: Request, b: Request): number =>
  (a.releasedAt?.getTime() ?? 0) - (b.releasedAt?.getTime() ?? 0);

/** Ends the request of this name. */
export function withoutRequest(requests: readonly Request[], name: string, now: Date): readonly Request[] {
  // Not before it was made, by whichever clock: else its duplicate would seem to be asked for since.
  const release = (one: Request): Request => ({ ...one, releasedAt: later(now, one.at) });
  return requests.map((one) => (one.name === name && isOn(one, now) ? release(one) : one));
}

/** When the launch hold and the requests of a record end, whatever silences them. */
export function untilOf({ launchHold, requests }: ScopeRecord, rules: Rules): Date | undefined {
  const ends = [
    ...(launchHold ? [endOf(launchHold, rules).at] : []),
    ...requests.filter(({ releasedAt }) => !releasedAt).map(({ until }) => until),
  ];
  return latest(ends);
}

/**
 * The same, with requests that were released before their end. A hold that other settings make shorter is not late before
 * it is looked at, so that a deployment raises no alarm.
 */
export const dueOf = ({ requests, ...record }: ScopeRecord, rules: Rules): Date | undefined => {
  const ends = requests.map(({ releasedAt, ...one }) => ({ ...one, until: releasedAt ?? one.until }));
  const until = untilOf({ ...record, requests: ends }, rules);
  return until && later(until, record.looks.oneShot ?? until);
};
