import { Cron } from "croner";
import { after } from "../../lambda/core/duration.ts";
import type { Schedule } from "../../local/run/schedule.ts";

const months = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const days = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

type Field = Readonly<{ name: string; least: number; most: number; names: readonly string[] }>;

/** The five fields as Karpenter's library reads them. */
const fields: readonly Field[] = [
  { name: "minute", least: 0, most: 59, names: [] },
  { name: "hour", least: 0, most: 23, names: [] },
  { name: "day of the month", least: 1, most: 31, names: [] },
  { name: "month", least: 1, most: 12, names: months },
  { name: "day of the week", least: 0, most: 6, names: days },
];

/** Why Karpenter cannot read a budget's schedule; undefined where it can. */
export function whyUnreadable(schedule: string): string | undefined {
  if (/^@(annually|yearly|monthly|weekly|daily|midnight|hourly)$/.test(schedule)) return undefined;
  const texts = schedule.trim().split(/\s+/);
  if (texts.length !== fields.length) return "it needs five fields";
  const wrong = fields.find((field, n) => !(texts[n] ?? "").split(",").every((part) => isRange(part, field)));
  return wrong && `its ${wrong.name} must be ${wrong.least} to ${wrong.most}, in ranges that go forward`;
}

function isRange(part: string, { least, most, names }: Field): boolean {
  const [, range = "", step = "1"] = /^([^/]+)(?:\/(\d+))?$/.exec(part) ?? [];
  if (Number(step) === 0) return false;
  if (range === "*" || range === "?") return true;
  const read = (text: string): number => {
    const named = names.indexOf(text.toUpperCase());
    return named >= 0 ? named + least : /^\d+$/.test(text) ? Number(text) : Number.NaN;
  };
  const [from = "", to = from, ...more] = range.split("-");
  return more.length === 0 && least <= read(from) && read(from) <= read(to) && read(to) <= most;
}

/** Reads the schedule of a NodePool's budget: five fields or a nickname like @daily, always in UTC. */
export function readBudgetSchedule(schedule: string): Schedule {
  // "?" means any day, and 5/10 begins at 5.
  const text = schedule.replace("@midnight", "@daily").replaceAll("?", "*");
  const read = new Cron(text, { timezone: "UTC", mode: "5-part", sloppyRanges: true });
  return {
    last: (moment) => read.previousRuns(1, after(moment, 1))[0],
    next: (moment) => read.nextRun(moment) ?? undefined,
  };
}
