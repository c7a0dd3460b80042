import { type Duration, minutes, seconds } from "../core/duration.ts";

const first: Duration = 200;
const longest: Duration = seconds(10);

/** How often a call that fails is tried altogether; a server that says when to come back is asked until the deadline. */
export const mostAttempts = 8;

/** The pause after attempt 1, 2, …: twice as long each time, and somewhere in its upper half, so that many do not come at once. */
export function pauseAfter(attempt: number, random: () => number): Duration {
  const full = Math.min(longest, first * 2 ** (attempt - 1));
  return full / 2 + (full / 2) * random();
}

/** Reads a Retry-After header, in seconds or as a date; undefined when there is none to read. */
export function readRetryAfter(header: string | undefined, now: Date): Duration | undefined {
  if (header === undefined) return undefined;
  const wait = /^\d+$/.test(header) ? seconds(Number(header)) : Date.parse(header) - now.getTime();
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(0, wait), minutes(15));
}
