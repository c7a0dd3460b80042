import { stripVTControlCharacters } from "node:util";
import { formatDuration, hours, minutes, seconds } from "../../lambda/core/duration.ts";

/** Characters that a terminal obeys, and those that change the direction of the text around them. */
const unprintable = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/**
 * Text from outside as one line: names, tags and messages may have colours, newlines and more that a terminal obeys.
 * It is read before anything is styled, because our own colours are such sequences, too.
 */
export const readable = (text: string): string => stripVTControlCharacters(text).replaceAll(unprintable, " ");

/** The same for every text in an answer, and for its keys. Moments stay what they are. */
export function allReadable(value: unknown): unknown {
  if (typeof value === "string") return readable(value);
  if (Array.isArray(value)) return value.map(allReadable);
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [readable(key), allReadable(one)]));
}

const width = (text: string): number => stripVTControlCharacters(text).length;

/** Rows as columns that line up; the last column has any length. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, width(cell));
    });
  return rows.map((row) =>
    row
      .map((cell, i) => cell + " ".repeat(Math.max(0, (widths[i] ?? 0) - width(cell))))
      .join("  ")
      .trimEnd(),
  );
}

/** A moment as our logs write it: 12:20:00Z, with its date unless that is today's. */
export function absolute(moment: Date, now: Date): string {
  const [date = "", time = ""] = moment.toISOString().slice(0, 19).split("T");
  return now.toISOString().startsWith(date) ? `${time}Z` : `${date} ${time}Z`;
}

/** How far a moment is from now: "in 12m", "3m ago". */
export function relative(moment: Date, now: Date): string {
  const distance = moment.getTime() - now.getTime();
  if (Math.abs(distance) < seconds(1)) return "now";
  return distance > 0 ? `in ${about(distance)}` : `${about(-distance)} ago`;
}

/** A moment, absolute and relative. */
export const formatMoment = (moment: Date | undefined, now: Date): string =>
  moment ? `${absolute(moment, now)} (${relative(moment, now)})` : "–";

/** A duration in its two largest parts: seconds mean nothing to a day. By two clocks it may seem to be less than none. */
export function about(duration: number): string {
  if (duration < minutes(10)) return formatDuration(Math.max(0, duration));
  // Rounded: just after a hold of 45 minutes began it shows 45m, not 44m.
  if (duration < hours(48)) return formatDuration(Math.round(duration / minutes(1)) * minutes(1));
  const days = Math.floor(duration / hours(24));
  const rest = Math.floor((duration % hours(24)) / hours(1));
  return rest > 0 && days < 10 ? `${days}d${rest}h` : `${days}d`;
}

/** A word as a shell takes it. */
export const quoted = (word: string): string =>
  /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
