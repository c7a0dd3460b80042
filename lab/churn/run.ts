import { join } from "node:path";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { Progress } from "../../cli/terminal/progress.ts";
import { processTerminal } from "../../cli/terminal/terminal.ts";
import { formatDuration, parseDuration } from "../../lambda/core/duration.ts";
import { writeBlock } from "../../scripts/page-block.ts";
import { buildFolder, newestKarpenter } from "../../test/real/engines/build.ts";
import { Archive } from "./archive.ts";
import { type ArmName, armNames, armOf } from "./arms.ts";
import { figuresOf } from "./figures.ts";
import { figuresBlock, picturesOf } from "./page.ts";
import { runArm, type Trial } from "./run-arm.ts";
import { type TraceName, traceOf, traces } from "./traces.ts";

type Options = Readonly<{
  trace: readonly TraceName[];
  arm: readonly ArmName[];
  seed: readonly number[];
  hold: number;
  share: number;
  parallel: number;
  draw?: true;
  write?: true;
  into?: string;
}>;

const print = (line: string) => process.stderr.write(`${line}\n`);

const command = new Command("npm run churn --")
  .description(
    "Run the same work on real Karpenter with different settings, each on a fresh cluster, and print the figures.",
  )
  .addOption(names("--trace <names>", "traces to run", Object.keys(traces) as TraceName[]))
  .addOption(names("--arm <names>", "arms to run", armNames))
  .option("--seed <numbers>", "seeds to run", wholeNumbers, [1])
  .addOption(
    new Option("--hold <duration>", "the hold, and consolidateAfter")
      .argParser(duration)
      .default(100_000, "100s"),
  )
  .addOption(
    new Option("--share <number>", "run only this share of each trace, from 0 to 1")
      .argParser(share)
      .default(1),
  )
  .option("--parallel <count>", "arms at once", (text) => wholeNumbers(text)[0] ?? 1, 2)
  .option("--draw", "run nothing; take the last records")
  .option("--write", "put the figures and plots of all records into docs/compare.md")
  .option("--into <folder>", "write page, plots and records into that folder instead")
  .exitOverride()
  .showHelpAfterError("See --help for traces, arms and flags.")
  .action(churn);

async function churn(options: Options): Promise<void> {
  const { into } = options;
  const archive = new Archive(into === undefined ? join(buildFolder, "churn") : join(into, "records"));
  if (!options.draw) await runAll(trialsOf(options), archive, options.parallel);
  const archived = archive.all();
  if (archived.length === 0) {
    print("There are no records yet: run without --draw first.");
    process.exitCode = 1;
    return;
  }
  const block = figuresBlock(archived);
  process.stdout.write(`${block}\n`);
  if (!options.write && into === undefined) return;
  const pictures = picturesOf(archived);
  const file = writeBlock({ page: "compare.md", command: "npm run churn", block, pictures, into });
  print(`Written: ${file} and its pictures, from ${archived.length} records.`);
}

const trialsOf = ({ trace, arm, seed, hold, share: part }: Options): readonly Trial[] =>
  seed.flatMap((one) =>
    trace.flatMap((name) => arm.map((each) => ({ trace: name, arm: each, seed: one, hold, share: part }))),
  );

/** Runs the trials, so many at once, and stores each record as soon as it is complete. */
async function runAll(trials: readonly Trial[], archive: Archive, parallel: number): Promise<void> {
  const waiting = [...trials];
  const progress = new Progress(sum(trials.map(lengthOf)), processTerminal());
  const work = async () => {
    for (let trial = waiting.shift(); trial; trial = waiting.shift()) {
      const { trace, arm, seed, hold } = trial;
      const name = `${trace}, ${arm}, seed ${seed}`;
      const task = progress.begin(name, lengthOf(trial));
      progress.print(`started: ${name} (hold ${formatDuration(hold)})`);
      const record = await runArm(trial, task.advance);
      archive.write(record, armOf(arm).karpenter ?? newestKarpenter);
      task.end(`${name}: ${JSON.stringify(figuresOf(record))}`);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  progress.stop();
}

/** In seconds; starting a cluster takes some seconds more. */
const lengthOf = ({ trace, seed, share: part }: Trial): number => traceOf(trace, seed).lasts * part + 20;
const sum = (lengths: readonly number[]): number => lengths.reduce((total, length) => total + length, 0);

function names<T extends string>(flags: string, description: string, known: readonly T[]): Option {
  const parse = (text: string): readonly T[] => {
    const given = text.split(",").map((name) => name.trim());
    const unknown = given.filter((name) => !known.some((one) => one === name));
    if (unknown.length === 0) return known.filter((one) => given.includes(one));
    throw new InvalidArgumentError(`Unknown: ${unknown.join(", ")}. Known: ${known.join(", ")}.`);
  };
  return new Option(flags, `${description}: ${known.join(", ")}`).argParser(parse).default(known, "all");
}

function wholeNumbers(text: string): readonly number[] {
  const numbers = text.split(",").map(Number);
  if (numbers.every((number) => Number.isInteger(number) && number > 0)) return numbers;
  throw new InvalidArgumentError("It must be whole numbers above 0, separated by commas.");
}

function share(text: string): number {
  const number = Number(text);
  if (number > 0 && number <= 1) return number;
  throw new InvalidArgumentError("It must be a number above 0 and at most 1.");
}

function duration(text: string): number {
  const parsed = parseDuration(text);
  if (parsed) return parsed;
  throw new InvalidArgumentError("It must be a duration like 100s or 5m.");
}

// Exiting by process.exit also stops the engines.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

try {
  await command.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}
