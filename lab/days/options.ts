import { statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { parseDuration } from "../../lambda/core/duration.ts";
import { nearestName } from "../../lambda/spelling.ts";
import { labVersions } from "../../test/real/engines/build-lab.ts";
import { buildFolder } from "../../test/real/engines/build-once.ts";
import { armOf, armPatterns, arms, problemsOf } from "./arms.ts";
import type { Source } from "./spec.ts";
import { generators } from "./traces/names.ts";
import { columns as podColumns } from "./traces/pods.ts";
import { armNames } from "./whole.ts";
import { instanceTypes, worlds } from "./worlds.ts";

/** The command line as it was given; a list that was not given is undefined. */
export type Options = Readonly<{
  trace?: readonly Source[];
  pods?: string;
  /** In seconds. */
  from?: number;
  lasts?: number;
  arms?: readonly string[];
  karpenter?: readonly string[];
  types?: readonly string[];
  seed?: readonly number[];
  parallel: number;
  json?: true;
  fresh?: true;
  results: string;
  page?: true;
  into?: string;
}>;

const list = (names: readonly string[]): string => names.join(", ");

/** Each name of a list, or an error that names the one that was probably meant. */
function namesFrom(what: string, known: readonly string[], others: (name: string) => boolean = () => false) {
  return (text: string): readonly string[] => {
    const given = text.split(",").map((name) => name.trim());
    for (const name of given) {
      if (known.includes(name) || others(name)) continue;
      const meant = nearestName(name, known);
      throw new InvalidArgumentError(
        `There is no ${what} "${name}"${meant ? `: did you mean ${meant}?` : "."} There are: ${list(known)}.`,
      );
    }
    return [...new Set(given)];
  };
}

const traceNames = [...generators.keys()];

function fileOf(file: string): string {
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) return file;
  throw new InvalidArgumentError(`There is no file ${file}.`);
}

/** Each trace once. */
const traces = (text: string): readonly Source[] =>
  [...new Set(text.split(",").map((one) => one.trim()))].map(traceFrom);

function traceFrom(given: string): Source {
  if (/[./]/.test(given)) return { kind: "file", name: given, file: fileOf(given) };
  const [name = ""] = namesFrom("trace", traceNames)(given);
  return { kind: "name", name };
}

/** Each arm, if its settings can be used. */
function armsFrom(text: string): readonly string[] {
  const names = namesFrom("arm", armNames, (name) => armOf(name) !== undefined)(text);
  for (const name of names) {
    const arm = armOf(name);
    const problems = arm ? problemsOf(arm) : [];
    if (problems.length > 0)
      throw new InvalidArgumentError(`${name} cannot be played: ${problems.join("; ")}.`);
  }
  return names;
}

/** "1.15" stands for 1.15.0. */
function versions(text: string): readonly string[] {
  const found = text.split(",").map((given) => {
    const version = labVersions.find((one) => one === given.trim() || one.startsWith(`${given.trim()}.`));
    if (version !== undefined) return version;
    throw new InvalidArgumentError(`There is no version "${given}" here. There are: ${list(labVersions)}.`);
  });
  return [...new Set(found)];
}

/** Worlds, or instance types that make one world. */
function typesFrom(text: string): readonly string[] {
  const known = [...worlds.keys(), ...instanceTypes.keys()];
  const given = namesFrom("world or instance type", known)(text);
  const named = given.filter((name) => worlds.has(name));
  if (named.length === given.length) return named;
  if (named.length === 0) return [given.join("+")];
  throw new InvalidArgumentError("Give either worlds or instance types, not both.");
}

const isCount = (number: number): boolean => Number.isSafeInteger(number) && number > 0;

function wholeNumbers(text: string): readonly number[] {
  const numbers = text.split(",").map(Number);
  if (numbers.every(isCount)) return [...new Set(numbers)];
  throw new InvalidArgumentError("It must be whole numbers above 0, separated by commas.");
}

function wholeNumber(text: string): number {
  if (isCount(Number(text))) return Number(text);
  throw new InvalidArgumentError("It must be a whole number above 0.");
}

function secondsOf(text: string): number {
  const milliseconds = /^\d+$/.test(text) ? Number(text) * 1_000 : parseDuration(text);
  if (milliseconds !== undefined) return milliseconds / 1_000;
  throw new InvalidArgumentError("It must be seconds, or a duration like 90m or 1d.");
}

const resultsFile = join(buildFolder, "lab", "results.jsonl");

export const command = (): Command =>
  new Command("npm run lab --")
    .description(
      "Play the work of a cluster on a virtual clock with Karpenter's own controllers, with and without the holder, and compare the costs.\n\n" +
        "Without flags: the whole comparison. With any of the first flags: every combination of what is chosen. Results that are stored are not measured again.",
    )
    .addOption(
      new Option("--trace <list>", `traces or JSON files: ${list(traceNames)} (day)`).argParser(traces),
    )
    .addOption(
      new Option(
        "--pods <file>",
        `a CSV list of pods that ran, instead of a trace: columns ${list(podColumns)}, of which the last may be missing`,
      ).argParser(fileOf),
    )
    .addOption(new Option("--from <time>", "begin at this time of the list of pods").argParser(secondsOf))
    .addOption(new Option("--lasts <time>", "play so much of the list of pods").argParser(secondsOf))
    .addOption(new Option("--arms <list>", "arms, see below (all)").argParser(armsFrom))
    .addOption(
      new Option("--karpenter <list>", `versions: ${list(labVersions)} (${labVersions[0]})`).argParser(
        versions,
      ),
    )
    .addOption(
      new Option(
        "--types <list>",
        "worlds of instance types, or types that make one, see below (one)",
      ).argParser(typesFrom),
    )
    .addOption(new Option("--seed <list>", "seeds of trace and engine (1)").argParser(wholeNumbers))
    .addOption(
      new Option("--parallel <count>", "runs at once; each needs a core and about a gigabyte")
        .argParser(wholeNumber)
        .default(availableParallelism(), "all cores"),
    )
    .option("--json", "print one line of JSON for each run instead of tables")
    .option("--fresh", "measure again what is stored")
    .option("--results <file>", "where results are stored", resultsFile)
    .option(
      "--page",
      "measure nothing; write docs/lab.md, its picture and the table in README.md from the stored results of the whole comparison",
    )
    .option("--into <folder>", "with --page: write into that folder instead")
    .addHelpText("after", () => `\n${[armsHelp(), typesHelp()].join("\n\n")}`)
    .exitOverride()
    .showHelpAfterError("See --help for all flags and names.");

const armsHelp = (): string =>
  [
    "Arms:",
    ...rows(arms.map(({ name, about }) => [name, about.replaceAll("`", "")])),
    `  and with any durations: ${list(armPatterns)}`,
  ].join("\n");

const typesHelp = (): string =>
  [
    "Worlds of instance types:",
    ...rows([...worlds].map(([name, { about }]) => [name, about])),
    `  or instance types: ${list([...instanceTypes.keys()])}`,
  ].join("\n");

function rows(pairs: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, about]) => `  ${name.padEnd(width)}  ${about}`);
}
