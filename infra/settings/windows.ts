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
  /^((?:cron|rate|at)\([^()]*\))(?: +([A-Za-z][\w+/-]*))? +(\d\w*)(?: +(cluster|nodepool\/[\w.-]+))?$/;

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
    problems.push(`for must be a duration from 1m to ${limit}, like 30m, not "${text}"`);
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
  if (!isSchedule(schedule))
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
  ...(/^\P{Cc}{1,900}$/u.test(name) ? [] : ["name must be one line of 1 to 900 characters"]),
  ...(/<.*>/.test(name) ? [`name must not be "${name}": EventBridge reads <…> as a placeholder`] : []),
];

/** A field of a cron expression: values, ranges and steps, or what only this field knows. */
function field(value: string, ...others: string[]): RegExp {
  const item = `(?:\\*|${value}(?:-${value})?)(?:/\\d+)?`;
  return new RegExp(`^(?:${[`${item}(?:,${item})*`, ...others].join("|")})$`, "i");
}

function isSchedule(schedule: string): boolean {
  if (/^rate\([1-9]\d* (minute|hour|day)s?\)$/.test(schedule)) return true;
  if (/^at\(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\)$/.test(schedule)) return true;
  const dayOfMonth = "(?:0?[1-9]|[12]\\d|3[01])";
  const dayOfWeek = "(?:[1-7]|SUN|MON|TUE|WED|THU|FRI|SAT)";
  const expected = [
    field("[0-5]?\\d"),
    field("(?:[01]?\\d|2[0-3])"),
    field(dayOfMonth, "\\?", "LW?", `${dayOfMonth}W`),
    field("(?:0?[1-9]|1[0-2]|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)"),
    field(dayOfWeek, "\\?", `${dayOfWeek}?L`, `${dayOfWeek}#[1-5]`),
    field("(?:19[789]\\d|2[01]\\d\\d)"),
  ];
  const found = /^cron\((.*)\)$/.exec(schedule)?.[1]?.trim().split(/\s+/) ?? [];
  const fits = found.length === expected.length && expected.every((one, i) => one.test(found[i] ?? ""));
  return fits && (found[2] === "?") !== (found[4] === "?");
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
