import { after, hours, minutes } from "../../lambda/core/duration.ts";
import { type Allowed, hoursOf, stretchesOf, wallClock } from "./allowed.ts";

/** Half an hour a sign, so that a day has 48 and a line at most 80. */
const cellsPerDay = 48;
/** Clocks change at full quarters of an hour. */
const quarter = 15;
const signs = { all: "█", some: "▒", none: "·", skipped: " " } as const;

/** A reason's week as lines: one for each day, or one for all where they are alike. */
export function drawWeek({ open }: Pick<Allowed, "open">, from: Date, timeZone: string): readonly string[] {
  const days = new Map<string, { minutes: number; cells: { open: number; all: number }[] }>();
  for (let begin = 0; begin < open.length; begin += quarter) {
    const wall = wallClock(after(from, minutes(begin)), timeZone);
    const name = wall.toUTCString().slice(0, 7).replace(",", "");
    const day = days.get(name) ?? {
      minutes: 0,
      cells: Array.from({ length: cellsPerDay }, () => ({ open: 0, all: 0 })),
    };
    days.set(name, day);
    const cell = day.cells[Math.floor((wall.getTime() % hours(24)) / minutes(30))];
    if (!cell) continue;
    const within = open.slice(begin, begin + quarter);
    const count = within.filter(Boolean).length;
    cell.all += within.length;
    cell.open += count;
    day.minutes += count;
  }
  const drawn = [...days].map(([name, day]) => {
    const line = day.cells.map(({ open: some, all }) =>
      all === 0 ? signs.skipped : some === 0 ? signs.none : some === all ? signs.all : signs.some,
    );
    return { name, line: `${line.join("")}  ${inHours(day.minutes)}` };
  });
  const scale =
    `          ${[0, 3, 6, 9, 12, 15, 18, 21].map((hour) => String(hour).padEnd(6)).join("")}`.trimEnd();
  if (new Set(drawn.map(({ line }) => line)).size === 1) return [scale, `  ${"each day"}${drawn[0]?.line}`];
  return [scale, ...drawn.map(({ name, line }) => `  ${name.padEnd(8)}${line}`)];
}

const inHours = (count: number): string =>
  count % 60 === 0 ? `${count / 60}h` : `${(count / 60).toFixed(1)}h`;

/** In words: at any time, never and why, or how many hours of the week. */
export function inWords({ never, open, limits }: Allowed): string {
  if (never) return `never: ${never}`;
  const [sum, all] = [hoursOf(open), open.length / 60];
  const count = limits.length > 0 ? `, ${limits.join(", at other times ")} at once` : "";
  if (sum === all) return `at any time${count}`;
  if (sum === 0) return "never: a budget of 0 is always active";
  return `${Number(sum.toFixed(1))} of ${all} hours a week${count}`;
}

/** The same week for several reasons is drawn once. */
export function groupAlike(all: readonly Allowed[]): readonly (readonly Allowed[])[] {
  const key = (one: Allowed) => JSON.stringify([inWords(one), stretchesOf(one.open)]);
  return [...Map.groupBy(all, key).values()];
}

export const isPartly = ({ open }: Allowed): boolean => open.some(Boolean) && !open.every(Boolean);
