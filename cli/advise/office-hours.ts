import { formatDuration, hours } from "../../lambda/core/duration.ts";
import { isNone, readDuration, wallClock } from "./allowed.ts";
import type { Finding } from "./lint-nodes.ts";
import type { NodePoolBudget } from "./objects.ts";

/** What findings of a cluster are judged by. */
export type View = Readonly<{
  /** The begin of the week that is looked at: a local midnight. */
  week: Date;
  timeZone: string;
}>;

/** What was found of a NodePool. */
export type OfPool = Omit<Finding, "object">;

export const describeBudget = ({ nodes, schedule, duration }: NodePoolBudget): string =>
  `The budget nodes: "${nodes}", schedule: "${schedule}", duration: ${duration}`;

/** Whether a stretch of a day looks like office hours. */
const isOffice = (from: number, to: number): boolean => from >= 7 && from <= 9.5 && to >= 16 && to <= 19;

/** How many hours a time zone is ahead of UTC: where clocks change, one of these months is in summer, one in winter. */
const offsetIn = (month: "January" | "July", { week, timeZone }: View): number => {
  const moment = new Date(Date.UTC(week.getUTCFullYear(), month === "January" ? 0 : 6, 1));
  return (wallClock(moment, timeZone).getTime() - moment.getTime()) / hours(1);
};

/**
 * Budgets are always in UTC. A window that is office hours there was probably meant here, unless the hours here that it
 * has in summer and winter alike are office hours, too. So the answer is the same in each season.
 */
export function lintOfficeHours(budget: NodePoolBudget, view: View): OfPool | undefined {
  const [, minute, hour, rest] = /^(\d+) (\d+) (.*)$/.exec(budget.schedule ?? "") ?? [];
  if (hour === undefined || minute === undefined) return undefined;
  const begin = Number(hour) + Number(minute) / 60;
  const lasts = readDuration(budget.duration ?? "") / hours(1);
  const end = begin + lasts;
  const isClosing = isNone(budget.nodes);
  // A window that opens in the evening is the other half of office hours.
  const [from, to] = isClosing ? [begin, end] : [end % 24, begin];
  const offsets = [offsetIn("January", view), offsetIn("July", view)] as const;
  const [least, most] = [Math.min(...offsets), Math.max(...offsets)];
  if (!isOffice(from, to) || isOffice(from + most, to + least)) return undefined;
  // Office hours stay closed in summer and winter: a window that closes is longer, one that opens is shorter.
  const longer = (most - least) * (isClosing ? 1 : -1);
  const opens = begin - (isClosing ? most : least);
  const minuteOfDay = Math.round(((opens + 24) % 24) * 60);
  const schedule = `schedule: "${minuteOfDay % 60} ${Math.floor(minuteOfDay / 60)} ${rest}"`;
  const { timeZone } = view;
  const meant = clock(begin);
  const isOtherDay = opens < 0 || opens >= 24;
  return {
    rule: "window-in-utc",
    problem: [
      `${describeBudget(budget)} is in UTC, as all are: in ${timeZone} it begins at ${eachSeason(offsets, (offset) => clock(begin + offset), " and at ")}.`,
      `If ${meant} there was meant, it is wrong by ${wrongBy(offsets)}.`,
      ...(longer === 0
        ? []
        : [
            `A budget does not follow summer time: ${longer > 0 ? "a longer" : "a shorter"} one is right in both.`,
          ]),
      ...(isOtherDay ? ["In UTC that is on another day: shift the days, too."] : []),
    ].join(" "),
    change: longer === 0 ? schedule : `${schedule}, duration: ${formatDuration(hours(lasts + longer))}`,
  };
}

/** One text where January and July are alike, else one for each. */
function eachSeason(
  [january, july]: readonly [number, number],
  inWords: (offset: number) => string,
  and: string,
): string {
  const [first, second] = [inWords(january), inWords(july)];
  return first === second ? first : `${first} in January${and}${second} in July`;
}

/** By how much a window is wrong that was meant in local time. */
function wrongBy(offsets: readonly [number, number]): string {
  const inWords = (offset: number) => formatDuration(hours(Math.abs(offset)));
  const [january, july] = offsets;
  if (january === 0) return `${inWords(july)} in July`;
  if (july === 0) return `${inWords(january)} in January`;
  return eachSeason(offsets, inWords, " and by ");
}

const clock = (hour: number): string => {
  const within = (hour + 24) % 24;
  return `${String(Math.floor(within)).padStart(2, "0")}:${String(Math.round((within % 1) * 60)).padStart(2, "0")}`;
};
