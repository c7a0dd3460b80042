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

const isNickname = (schedule: string): boolean =>
  /^@(annually|yearly|monthly|weekly|daily|midnight|hourly)$/.test(schedule);
const textsIn = (schedule: string): readonly string[] => schedule.trim().split(/\s+/);

/** Why Karpenter cannot read a budget's schedule; undefined where it can. */
export function whyUnreadable(schedule: string): string | undefined {
  if (isNickname(schedule)) return undefined;
  const texts = textsIn(schedule);
  if (texts.length !== fields.length) return "it needs five fields";
  const wrong = fields.find((field, n) => plainly(texts[n] ?? "", field) === undefined);
  return wrong && `its ${wrong.name} must be ${wrong.least} to ${wrong.most}, in ranges that go forward`;
}

/** A field as numbers or a star, which every library reads alike; undefined where Karpenter's cannot read it. */
function plainly(text: string, field: Field): string | undefined {
  const parts = text.split(",").filter((part) => part !== "");
  const values = parts.map((part) => valuesOf(part, field));
  if (parts.length === 0 || values.includes(undefined)) return undefined;
  // A list with a star is one: of the two fields of days, the other one alone counts then.
  return values.includes("*") ? "*" : values.join(",");
}

function valuesOf(part: string, { least, most, names }: Field): string | undefined {
  const [, range = "", step] = /^([^/]+)(?:\/(\d+))?$/.exec(part) ?? [];
  const every = Number(step ?? 1);
  const isAny = range === "*" || range === "?";
  if (isAny && every === 1) return "*";
  const read = (text: string): number => {
    const named = names.indexOf(text.toUpperCase());
    return named >= 0 ? named + least : /^\d+$/.test(text) ? Number(text) : Number.NaN;
  };
  const [first = "", last = first, ...more] = range.split("-");
  const from = isAny ? least : read(first);
  // With a step and no end, like 5/10, it goes on to the last.
  const to = isAny || (step !== undefined && !range.includes("-")) ? most : read(last);
  if (more.length > 0 || !(every > 0 && least <= from && from <= to && to <= most)) return undefined;
  return Array.from({ length: Math.floor((to - from) / every) + 1 }, (_, n) => from + n * every).join(",");
}

/** Reads the schedule of a NodePool's budget: five fields or a nickname like @daily, always in UTC. */
export function readBudgetSchedule(schedule: string): Schedule {
  const text = isNickname(schedule)
    ? schedule.replace("@midnight", "@daily")
    : textsIn(schedule)
        .map((one, n) => fields[n] && plainly(one, fields[n]))
        .join(" ");
  const read = new Cron(text, { timezone: "UTC", mode: "5-part" });
  return {
    last: (moment) => read.previousRuns(1, after(moment, 1))[0],
    next: (moment) => read.nextRun(moment) ?? undefined,
  };
}
