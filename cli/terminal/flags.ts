import { type Command, InvalidArgumentError, Option } from "commander";
import * as v from "valibot";
import { type Duration, formatDuration } from "../../lambda/core/duration.ts";
import { holderName } from "../../lambda/core/marks/keys.ts";
import { textAs } from "../../lambda/schemas/parse.ts";
import { duration } from "../../lambda/schemas/values.ts";
import { holderSettings, type Setting } from "../../lambda/settings-table.ts";

/** What a person types before the command's name. */
export const programOf = ({ parent }: Command): string => parent?.name() ?? holderName;

/** Shows examples below a command's help: each with what it does. */
export const withExamples = (
  command: Command,
  examples: readonly (readonly [line: string, action: string])[],
): Command =>
  command.addHelpText(
    "after",
    ({ command }) =>
      `\nExamples:\n${examples.map(([line, action]) => `  # ${action}\n  $ ${programOf(command)} ${line}`).join("\n")}`,
  );

export type Output = "table" | "wide" | "json" | "yaml" | "name";

/** Adds the flag for the output format. */
export const withOutput = (command: Command, choices: readonly Output[]): Command =>
  command.addOption(
    new Option("-o, --output <form>", "output format").choices([...choices]).default("table"),
  );

/** Adds the flags for a table, and for what programs read in its place. */
export const withTable = (command: Command): Command =>
  withOutput(command, ["table", "wide", "json", "yaml", "name"]).option(
    "--no-headers",
    "print the rows of the table alone",
  );

/** Adds the flag for scripts that read the exit code alone. */
export const withQuiet = (command: Command): Command =>
  command.option("-q, --quiet", "print nothing but errors");

/** Numbers of milliseconds in the answers: settings, and figures of status, history and advise. */
const durations: ReadonlySet<string> = new Set([
  ...Object.entries<Setting>(holderSettings).flatMap(([name, { value }]) =>
    value.kind === "duration" ? [name] : [],
  ),
  ...["superfluous", "nodeTime", "lasted", "lifetime", "medianAge"],
]);

/** Counts by names that users choose, which may be like ours. */
const counts = "launches";

/** An answer for programs: whole, with each duration in milliseconds and, beside it, as people write it. */
export const asJson = (answer: unknown): string => JSON.stringify(withReadable(answer), null, 2);

/** An answer for programs in the form that was asked for; undefined where that is one for people. */
export async function asData(answer: unknown, form: Output): Promise<string | undefined> {
  if (form === "json") return asJson(answer);
  if (form !== "yaml") return undefined;
  const { dump } = await import("js-yaml");
  return dump(JSON.parse(asJson(answer)), { lineWidth: -1, noRefs: true }).trimEnd();
}

function withReadable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withReadable);
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  const entries = Object.entries(value).flatMap(([name, inner]) => {
    const text = durations.has(name) && typeof inner === "number" && [[`${name}Text`, formatDuration(inner)]];
    return [[name, name === counts ? inner : withReadable(inner)], ...(text || [])];
  });
  return Object.fromEntries(entries);
}

/** Reads a flag's text by a schema; an error names the flag, and what it must be. */
export const readBy =
  <T>(schema: v.GenericSchema<string, T>) =>
  (text: string): T => {
    const { success, output, issues } = v.safeParse(schema, text);
    if (success) return output;
    throw new InvalidArgumentError(`It must be ${issues[0].message}.`);
  };

/** A flag that takes a duration; help shows its default. */
export const durationOption = (
  flags: string,
  description: string,
  [least, most]: readonly [Duration, Duration],
  fallback: Duration,
): Option =>
  new Option(flags, description)
    .argParser(readBy(duration(least, most)))
    .default(fallback, formatDuration(fallback));

/** Reads a flag's whole number. */
export const countFlag = (least: number, most: number) =>
  readBy(
    textAs(`a whole number from ${least} to ${most}`, (text) => {
      const read = /^\d+$/.test(text) ? Number(text) : Number.NaN;
      return read >= least && read <= most ? read : undefined;
    }),
  );

/** The flags of a command that were typed, as words of an argument list; only those that `isMeant` admits. */
export const typedFlags = (command: Command, isMeant: (option: Option) => boolean): readonly string[] =>
  command.options
    .filter((option) => command.getOptionValueSource(option.attributeName()) === "cli" && isMeant(option))
    .flatMap((option) => {
      const value = command.getOptionValue(option.attributeName());
      return [option.long ?? "", ...(value === true ? [] : [String(value)])];
    });
