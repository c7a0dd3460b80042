import { type Command, Option } from "commander";
import { formatDuration } from "../../lambda/core/duration.ts";
import { holderSettings, type Setting } from "../../lambda/settings-table.ts";

export type Output = "table" | "wide" | "json";

/** Adds the flag for the output format. */
export const withOutput = (
  command: Command,
  choices: readonly Output[] = ["table", "wide", "json"],
): Command =>
  command.addOption(
    new Option("-o, --output <form>", "output format").choices([...choices]).default("table"),
  );

/** Numbers of milliseconds in the answers. */
const durations: ReadonlySet<string> = new Set([
  ...Object.entries<Setting>(holderSettings).flatMap(([name, { value }]) =>
    value.kind === "duration" ? [name] : [],
  ),
  ...["length", "atHalfCost", "atDoubleCost"],
]);

/** An answer for programs: whole, with each duration in milliseconds and, beside it, as people write it. */
export const asJson = (answer: unknown): string => JSON.stringify(withReadable(answer), null, 2);

function withReadable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withReadable);
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  const entries = Object.entries(value).flatMap(([name, inner]) => {
    const text = durations.has(name) && typeof inner === "number" && [[`${name}Text`, formatDuration(inner)]];
    return [[name, withReadable(inner)], ...(text || [])];
  });
  return Object.fromEntries(entries);
}
