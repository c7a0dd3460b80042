import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { Command, CommanderError } from "commander";
import { printFailure, seeHelp } from "../cli/terminal/failure.ts";
import { durationOption } from "../cli/terminal/flags.ts";
import { Exit, processTerminal, untilStopped } from "../cli/terminal/terminal.ts";
import { textLog } from "../cli/views/run-log.ts";
import { type Duration, formatDuration, hours, minutes, seconds } from "../lambda/core/duration.ts";
import { BadInputError } from "../lambda/core/errors.ts";
import type { Log } from "../lambda/core/ports.ts";
import { serve } from "./serve/serve.ts";
import { runStory, shownFor } from "./story/story.ts";

type Options = Readonly<{
  serve?: true;
  real?: true;
  fast?: true;
  log?: true;
  hold: Duration;
}>;

const terminal = processTerminal();
const silent: Log = { info: () => {}, warn: () => {}, error: () => {} };

const command = new Command("npm start --")
  .description("See the holder at work on this machine, without AWS and without a cluster.")
  .option("--fast", "play without pauses")
  .option("--serve", "stay up in real time, with a cluster that kubectl can reach")
  .option("--real", "the same on real Karpenter, built here once (needs Go; minutes the first time)")
  .addOption(
    durationOption(
      "--hold <duration>",
      "with --serve or --real: how long a launch protects",
      [minutes(1), hours(24)],
      seconds(90),
    ),
  )
  .option("--log", "show the holder's own log as well")
  .helpOption("-h, --help", "display help")
  .exitOverride()
  .showHelpAfterError(seeHelp("npm start --"))
  .action(async (options: Options) => {
    process.exitCode = await started(options);
  });
try {
  await command.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? Exit.done : Exit.usage;
  else process.exitCode = printFailure(error, terminal, "npm start --");
}

async function started(options: Options): Promise<number> {
  if (options.real) return runReal(options);
  if (options.serve) return serveUntilStopped(options);
  // Not left to be ignored: the story has a hold of its own.
  if (command.getOptionValueSource("hold") === "cli")
    throw new BadInputError("Cannot start", ["--hold needs --serve or --real"]);
  return story(options);
}

/** The tests on real engines are not shipped, so this runs in a process of its own; it stops when we are asked to. */
async function runReal({ hold }: Options): Promise<number> {
  const ground = join(import.meta.dirname, "../lab/wall-clock/live.ts");
  // In a process group of its own, so that Ctrl-C reaches it once; it notices our end by the closed channel.
  const child = spawn(process.execPath, [ground, formatDuration(hold)], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    detached: true,
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, "exit");
  return typeof code === "number" ? code : Exit.failed;
}

async function story({ fast, log }: Options): Promise<Exit> {
  const pace = (from: Date, to: Date) => pass(shownFor(to.getTime() - from.getTime()));
  const checks = await runStory(terminal, fast ? async () => {} : pace, log ? textLog(terminal) : silent);
  return checks.every(({ isKept }) => isKept) ? Exit.done : Exit.failed;
}

async function serveUntilStopped({ hold, log }: Options): Promise<Exit> {
  const stopped = untilStopped();
  const served = await serve({ hold, log: log ? textLog(terminal) : silent }, terminal);
  await stopped;
  await served.stop();
  return Exit.done;
}
