import { loadavg } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { formatDuration, minutes, parseDuration } from "../../lambda/core/duration.ts";
import { BadInputError } from "../../lambda/core/errors.ts";
import { pagesFolder } from "../../scripts/pages-folder.ts";
import { buildFolder } from "../../test/real/engines/build.ts";
import { Archive } from "./archive.ts";
import { type Arm, arms, runArm, type Trial } from "./arm.ts";
import { writeDocument } from "./document.ts";
import { figuresOf } from "./figures.ts";
import { holderSettings } from "./holder.ts";
import { bursts } from "./workload.ts";

type Options = Readonly<{
  minutes: number;
  scale: number;
  hold: number;
  seed: number;
  arms: readonly Arm[];
  draw?: true;
  into?: string;
}>;

const everyArm = Object.keys(arms).join(",");
const say = (line: string) => process.stderr.write(`${line}\n`);

const command = new Command("npm run churn --")
  .description(
    "Run the same bursty work on real Karpenter with and without the holder, count what it costs, and draw it " +
      "into docs/. Time is scaled: a told minute lasts a few seconds; Karpenter's own loops are as fast as ever.",
  )
  .option("--minutes <count>", "told minutes an arm lasts", whole, 54)
  .addOption(timeOption("--scale <duration>", "how long a told minute lasts", "8s"))
  .addOption(timeOption("--hold <duration>", "the hold, and consolidateAfter, in told time", "9m"))
  .option("--seed <number>", "which bursts come", whole, 7)
  .addOption(
    new Option("--arms <names>", "which to run").argParser(armNames).default(armNames(everyArm), everyArm),
  )
  .option("--draw", "run nothing; draw the last records again")
  .option("--into <folder>", "put page, pictures and records there instead of docs/ and build/")
  .exitOverride()
  .showHelpAfterError("See --help for what can be said.")
  .action(churn);

async function churn(options: Options): Promise<void> {
  const { into } = options;
  const archive = new Archive(into === undefined ? join(buildFolder, "churn") : join(into, "records"));
  if (!options.draw) await runAll(options, archive);
  const archived = Object.keys(arms)
    .filter(isArm)
    .flatMap((arm) => archive.recall(arm) ?? []);
  const [newest] = archived.toSorted((a, b) => b.ranAt.getTime() - a.ranAt.getTime());
  // Arms of another seed or scale say nothing about these.
  const alike = archived.filter((one) => isDeepStrictEqual(one.conditions, newest?.conditions));
  if (alike.length === 0) {
    say("Nothing was run here yet: there is nothing to draw.");
    process.exitCode = 1;
    return;
  }
  const folder = pagesFolder(into);
  writeDocument(alike, folder);
  say(`${folder}/churn.md and its pictures: ${alike.map(({ record }) => arms[record.arm]).join(", ")}`);
}

async function runAll(options: Options, archive: Archive): Promise<void> {
  const { minutes: told, scale, hold, seed, arms: wanted } = options;
  const workload = bursts(seed, told);
  const trial: Trial = { workload, minute: scale, minutes: told, hold: (hold / minutes(1)) * scale };
  holderSettings(trial.hold); // refused now, and not when its arm's turn comes
  const each = formatDuration(told * scale);
  for (const arm of wanted) {
    say(`${arms[arm]}: ${workload.jobs.length} jobs in ${each} …`);
    const record = await runArm(arm, trial);
    const conditions = { seed, minutes: told, minute: scale, hold: trial.hold, jobs: workload.jobs.length };
    const [, , busy = 0] = loadavg();
    archive.keep({ conditions, ranAt: record.from, busy, record });
    say(`  ${JSON.stringify(figuresOf(record, scale))}`);
  }
}

function whole(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new InvalidArgumentError("It must be a whole number above 0.");
}

function timeOption(flags: string, description: string, normally: string): Option {
  return new Option(flags, description).argParser(duration).default(duration(normally), normally);
}

function duration(text: string): number {
  const parsed = parseDuration(text);
  if (parsed) return parsed;
  throw new InvalidArgumentError("It must be a duration like 6s or 15m.");
}

function isArm(name: string): name is Arm {
  return Object.hasOwn(arms, name);
}

function armNames(text: string): readonly Arm[] {
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.filter((name) => !isArm(name));
  if (unknown.length > 0) throw new InvalidArgumentError(`There is no arm ${unknown.join(", ")}.`);
  return names.filter(isArm);
}

// Leaving by the front door also stops the engines.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

try {
  await command.parseAsync();
} catch (error) {
  if (error instanceof BadInputError) say(`in real time, ${error.message}`);
  else if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error instanceof CommanderError && error.exitCode === 0 ? 0 : 2;
}
