import * as v from "valibot";
import { type Duration, formatDuration, parseDuration } from "../core/duration.ts";
import { holdIdPattern, startOf } from "../core/marks/hold-id.ts";
import { linePattern } from "../core/requests.ts";
import { parseScope } from "../core/scope.ts";
import { matching, textAs } from "./parse.ts";

/** The values that requests, events and stored records have in common. */

export const text = matching(/^[\s\S]{1,1000}$/, "text");

export const line = matching(linePattern, "one line of 1 to 250 characters");

/** Who asks is shown in one line with the reason. */
export const callerPattern = /^[^\p{Cc}\p{Cs}]{1,100}$/u;

/** What a request to hold is called, so that it can be released by itself. */
export const requestName = matching(
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/,
  "a name of 1 to 63 letters, digits, dots, dashes or underscores",
);

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;

export const moment = textAs("a time like 2026-01-31T09:30:00Z", (value) => {
  const read = timePattern.test(value) ? new Date(value) : new Date(Number.NaN);
  return Number.isNaN(read.getTime()) ? undefined : read;
});

export const scope = textAs('"cluster" or "nodepool/NAME"', parseScope);

export const holdId = (remedy = "") => {
  const expected = `the id of a hold${remedy}`;
  // No id could be younger than one whose date does not exist.
  const isDate = (id: string) => !Number.isNaN(startOf(id).getTime());
  return v.pipe(matching(new RegExp(holdIdPattern), expected), v.check(isDate, expected));
};

export function wholeNumber(most: number = Number.MAX_SAFE_INTEGER) {
  const expected = most === Number.MAX_SAFE_INTEGER ? "a whole number" : `a whole number from 0 to ${most}`;
  return v.pipe(
    v.number(expected),
    v.check((n) => Number.isInteger(n) && n >= 0 && n <= most, expected),
  );
}

export function duration(least: Duration, most: Duration) {
  const read = (text: string): Duration | undefined => {
    const found = parseDuration(text);
    return found !== undefined && found >= least && found <= most ? found : undefined;
  };
  const examples = ["90s", "20m", "2h", "1d"].filter((one) => read(one) !== undefined);
  const last = examples.pop();
  const like = examples.length > 0 ? `${examples.join(", ")} or ${last}` : last;
  return textAs(`a duration from ${formatDuration(least)} to ${formatDuration(most)}, like ${like}`, read);
}
