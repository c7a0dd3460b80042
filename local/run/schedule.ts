import { Cron } from "croner";
import { hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { BadInputError, messageOf } from "../../lambda/core/errors.ts";

/** When something begins: the last time up to a moment, and the next one after it. */
export type Schedule = Readonly<{
  last: (moment: Date) => Date | undefined;
  next: (moment: Date) => Date | undefined;
}>;

const units = { minute: minutes(1), hour: hours(1), day: hours(24) };

/** Reads a schedule as EventBridge Scheduler has them: cron(…), rate(…) or at(…). */
export function readSchedule(schedule: string, timeZone: string): Schedule {
  const [, kind, content = ""] = /^(\w+)\((.*)\)$/.exec(schedule) ?? [];
  try {
    if (kind === "rate") return rate(content);
    return kind === "at" ? once(content, timeZone) : cron(content, timeZone);
  } catch (error) {
    throw new BadInputError(`The schedule ${schedule} cannot be used`, [messageOf(error)]);
  }
}

/** Counted from the beginning of 1970 in UTC, so that a restart changes nothing: hours begin at :00, days at midnight. */
function rate(content: string): Schedule {
  const [count, unit = ""] = content.split(" ");
  const every = Number(count) * units[unit.replace(/s$/, "") as keyof typeof units];
  const begin = (moment: Date, more: number) =>
    new Date((Math.floor(moment.getTime() / every) + more) * every);
  return { last: (moment) => begin(moment, 0), next: (moment) => begin(moment, 1) };
}

function once(content: string, timezone: string): Schedule {
  const at = new Cron(content, { timezone }).getOnce() ?? undefined;
  return {
    last: (moment) => (at && at <= moment ? at : undefined),
    next: (moment) => (at && at > moment ? at : undefined),
  };
}

/** A day on which clocks change has a few times that do not fit. */
const enough = 5;

function cron(content: string, timezone: string): Schedule {
  const [minute, hour, day, month, weekday = "", year] = content.trim().toUpperCase().split(/\s+/);
  const fields = new Cron(["0", minute, hour, day, month, weekdayOf(weekday), year].join(" "), {
    timezone,
    mode: "7-part",
    // As in AWS: 1 is Sunday, 5/10 begins at 5, and a time that occurs twice when clocks go back counts once.
    alternativeWeekdays: true,
    sloppyRanges: true,
    fixedTimeRule: "no-wildcard",
  });
  // A time that is left out when clocks go forward does not count; the library takes the first one after it.
  const fitting = (times: readonly Date[]) => times.find((time) => fields.match(time));
  // The library's times have whole seconds, and are before the given one.
  const endOfSecond = (moment: Date) =>
    new Date((Math.floor(moment.getTime() / seconds(1)) + 1) * seconds(1));
  return {
    last: (moment) => fitting(fields.previousRuns(enough, endOfSecond(moment))),
    next: (moment) => fitting(fields.nextRuns(enough, moment)),
  };
}

/** AWS writes the last Friday as 6L or FRIL, and Saturday, the week's last day, as L. */
const weekdayOf = (text: string): string => (text === "L" ? "7" : text.replace(/^(.+)L$/, "$1#L"));
