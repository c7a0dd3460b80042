import { formatDuration, minutes, parseDuration } from "../../lambda/core/duration.ts";
import { longestWindow } from "../../lambda/core/requests.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import { admits, nodePoolOf, parseScope, wholeCluster } from "../../lambda/core/scope.ts";

/** What starts a hold beside launches: an event, or a window. */
export type Trigger = Readonly<{ for: string; scope?: string | undefined }>;
export type Window = Trigger & Readonly<{ schedule: string; timeZone: string }>;

type Limits = Pick<Rules, "scope" | "nodePools" | "maxRequest">;

/** A schedule, a time zone or none, a length, a scope or none. */
export const windowPattern =
  /^((?:cron|rate|at)\([^();]*\))(?: +([A-Za-z][\w+/-]*))? +(\d\w*)(?: +(cluster|nodepool\/[\w.-]+))?$/;

/** Reads a window like "cron(0 8 ? * MON-FRI *) Europe/Berlin 2h". */
export function readWindow(text: string): Window {
  const [, schedule = text, timeZone = "UTC", length = "", scope] = windowPattern.exec(text) ?? [];
  return { schedule, timeZone, for: length, scope };
}

/** Whether a hold of this length and scope fits the holder's settings. */
export function problemsOfTrigger(
  { for: text, scope }: Trigger,
  { maxRequest, ...rules }: Limits,
  longest = maxRequest,
): string[] {
  const length = parseDuration(text) ?? 0;
  const problems: string[] = [];
  const limit = longest === maxRequest ? `${formatDuration(longest)} (maxRequest)` : formatDuration(longest);
  if (length < minutes(1) || length > longest)
    problems.push(
      `for must be a duration from 1m to ${limit}, like 30m${text ? `, not "${text}"` : ", but is missing"}`,
    );
  const read = parseScope(scope ?? wholeCluster);
  const nodePool = read && nodePoolOf(read);
  const given = scope === undefined ? ", but is missing" : `, not "${scope}"`;
  if (rules.scope === "cluster") {
    if (read !== wholeCluster)
      problems.push(`scope must be "cluster" or left out, because the holder's scope is cluster${given}`);
  } else if (nodePool === undefined)
    problems.push(`scope must be "nodepool/NAME", because the holder's scope is nodepool${given}`);
  else if (!admits(rules.nodePools, nodePool))
    problems.push(`scope must name a NodePool that nodePools does not leave out${given}`);
  return problems;
}

/** The same, with a schedule and a time zone that EventBridge Scheduler takes. */
export function problemsOfWindow(window: Window, limits: Limits): string[] {
  const { schedule, timeZone } = window;
  const problems = problemsOfTrigger(window, limits, longestWindow);
  const read = checkSchedule(schedule);
  if (read === "never") problems.push(`schedule must name a day from ${firstYear} on, not "${schedule}"`);
  if (read === "wrong")
    problems.push(
      "schedule must be cron(…) with six fields and ? for one of day of month and day of week, rate(…) or at(…), " +
        `like cron(0 8 ? * MON-FRI *), not "${schedule}"`,
    );
  if (!isTimeZone(timeZone)) {
    const meant = timeZones().find((name) => isSameWord(name.slice(-timeZone.length), timeZone));
    const remedy = meant ? `: did you mean ${meant}?` : "";
    problems.push(`timeZone must be a name like Europe/Berlin, not "${timeZone}"${remedy}`);
  }
  return problems;
}

/** Whether an event or a window may have this name: the reason, one line too, has it beside an id. */
export const problemsOfName = (name: string): string[] => [
  ...(/^\P{Cc}{1,200}$/u.test(name) ? [] : ["name must be one line of 1 to 200 characters"]),
  ...(/<.*>/.test(name) ? [`name must not be "${name}": EventBridge reads <…> as a placeholder`] : []),
];

const months = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const weekdays = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/** The values of a field of a cron expression, from values, ranges and steps; undefined where it is none. */
function valuesOf(text: string, [least, most]: readonly [number, number], names: readonly string[] = []) {
  const numberOf = (value: string) => {
    const number = /^\d+$/.test(value) ? Number(value) : names.indexOf(value) + least || -1;
    return number >= least && number <= most ? number : undefined;
  };
  const values: number[] = [];
  for (const item of text.split(",")) {
    const [, first = "", last, step] = /^(\*|\w+)(?:-(\w+))?(?:\/(\d+))?$/.exec(item) ?? [];
    const from = first === "*" && last === undefined ? least : numberOf(first);
    const to = last !== undefined ? numberOf(last) : first === "*" || step !== undefined ? most : from;
    if (from === undefined || to === undefined || Number(step ?? 1) === 0) return undefined;
    const end = to < from ? to + most - least + 1 : to;
    for (let value = from; value <= end; value += Number(step ?? 1))
      values.push(value > most ? value - most + least - 1 : value);
  }
  return values;
}

/** The days of which a month must have one; undefined where the field is none. */
function daysOf(dayOfMonth: string, weekday: string): readonly number[] | undefined {
  if ((dayOfMonth === "?") === (weekday === "?")) return undefined;
  if (/^LW?$/.test(dayOfMonth)) return [1];
  if (weekday === "?") return valuesOf(dayOfMonth.replace(/^(\d+)W$/, "$1"), [1, 31]);
  const [, day = weekday, week = 1] = /^(.*)(?:#([1-5])|L)$/.exec(weekday) ?? [];
  const isOne = day === weekday || (day === "" && weekday === "L") || /^\w+$/.test(day);
  return isOne && (day === "" || valuesOf(day, [1, 7], weekdays)) ? [7 * (Number(week) - 1) + 1] : undefined;
}

/** No deployment is older. The present would make a template of today wrong tomorrow. */
const firstYear = 2026;

/** Whether a schedule is one of EventBridge Scheduler's, and names a day on which a window may begin. */
function checkSchedule(text: string): "wrong" | "never" | "right" {
  const [, kind, content = ""] = /^(cron|rate|at)\((.*)\)$/.exec(text) ?? [];
  if (kind === "rate") return /^[1-9]\d* (minute|hour|day)s?$/.test(content) ? "right" : "wrong";
  if (kind === "at") {
    const time = /^\d{4}(-\d\d){2}T(\d\d:){2}\d\d$/.test(content) ? Date.parse(`${content}Z`) : Number.NaN;
    if (Number.isNaN(time) || !new Date(time).toISOString().startsWith(content)) return "wrong";
    return Number(content.slice(0, 4)) < firstYear ? "never" : "right";
  }
  const fields = content.trim().toUpperCase().split(/\s+/);
  const [minute = "", hour = "", dayOfMonth = "", month = "", weekday = "", year = ""] = fields;
  const isTime = valuesOf(minute, [0, 59]) && valuesOf(hour, [0, 23]);
  const days = daysOf(dayOfMonth, weekday);
  const inMonths = valuesOf(month, [1, 12], months);
  const inYears = valuesOf(year, [1970, 2199]);
  if (fields.length !== 6 || !isTime || !days || !inMonths || !inYears) return "wrong";
  const isDay = (year: number, month: number) =>
    days.some((day) => day <= new Date(Date.UTC(year, month, 0)).getUTCDate());
  const isEver = inYears.some((year) => year >= firstYear && inMonths.some((month) => isDay(year, month)));
  return isEver ? "right" : "never";
}

const timeZones = () => Intl.supportedValuesOf("timeZone");
const isSameWord = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    // Node takes any case.
    return /^[A-Z]/.test(name) && !timeZones().some((one) => one !== name && isSameWord(one, name));
  } catch {
    return false;
  }
}

type Cause = Readonly<{ cause: "event" | "window"; name: string; id: string; at: string }>;

/**
 * The message to the launch queue. By its time a duplicate changes nothing, and by its name a later event extends the
 * request of an earlier one.
 */
export const holdMessage = ({ cause, name, id, at }: Cause, trigger: Trigger) => ({
  hold: {
    cause,
    name,
    for: trigger.for,
    scope: trigger.scope ?? wholeCluster,
    reason: `${cause === "event" ? "event" : "window"} ${name} (${id})`,
    at,
  },
});

/** A window of the settings is known by its schedule. */
export const nameOfWindow = ({ schedule, timeZone }: Window): string => `${schedule} ${timeZone}`;

/** What Scheduler sends each time a window begins. */
export function windowMessage(window: Window, name = nameOfWindow(window)): string {
  const reported = { id: "<aws.scheduler.execution-id>", at: "<aws.scheduler.scheduled-time>" };
  return JSON.stringify(holdMessage({ cause: "window", name, ...reported }, window));
}
