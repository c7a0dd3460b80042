import { type Argument, Command, CommanderError, type Option } from "commander";
import { holderName } from "../lambda/core/marks/keys.ts";
import { version } from "../lambda/version.ts";
import { advise } from "./commands/advise.ts";
import { completion, suggestFor, suggestionsFor } from "./commands/completion.ts";
import { doctor } from "./commands/doctor.ts";
import { history } from "./commands/history.ts";
import { manifest } from "./commands/manifest.ts";
import { hold, pause, release, resume } from "./commands/operate.ts";
import { run } from "./commands/run.ts";
import { status } from "./commands/status.ts";
import { template } from "./commands/template.ts";
import { wait } from "./commands/wait.ts";
import { AnswerNo, printFailure, seeHelp } from "./terminal/failure.ts";
import { Exit, type Terminal } from "./terminal/terminal.ts";

/** Every command, in the order of the help: its name, flags and action. The action loads heavy imports. */
export const commands = [
  ...[status, hold, release, pause, resume, wait, history, doctor, advise],
  ...[manifest, template, run, completion],
];

/** Runs a command and returns its exit code; never ends the process itself. */
export async function commandLine(typed: readonly string[], terminal: Terminal): Promise<Exit> {
  // As kubectl takes it.
  const words = typed.map((word) => word.replace(/^-o=/, "-o"));
  const program = frame(terminal);
  for (const command of commands) program.addCommand(framed(command(terminal), terminal, program.name()));
  const [first = "", second] = words;
  const isCommand = (word: string | undefined) => program.commands.some((one) => one.name() === word);
  if (first === suggestFor) {
    for (const one of suggestionsFor(words.slice(1), program.commands)) terminal.out(one);
    return Exit.done;
  }
  try {
    if (words.length === 0) program.help({ error: true });
    // Left to commander, help for an unknown command would show the help of all, without an error.
    const isUnknown = first === "help" && second !== undefined && !isCommand(second);
    await program.parseAsync(isUnknown ? words.slice(1) : words, { from: "user" });
    return Exit.done;
  } catch (error) {
    if (first.startsWith("-") && Object(error).code === "commander.unknownOption")
      terminal.notify(`Flags follow the command: ${program.name()} COMMAND ${first}`);
    if (error instanceof CommanderError) return error.exitCode === 0 ? Exit.done : Exit.usage;
    if (error instanceof AnswerNo) return Exit.no;
    return printFailure(error, terminal, isCommand(first) ? `${program.name()} ${first}` : program.name());
  }
}

const frame = (terminal: Terminal): Command =>
  framed(new Command(terminal.calledAs ?? holderName), terminal)
    .description("Protects Karpenter's nodes from disruption for a while after every launch.")
    .version(version, "-V, --version", "print the version")
    .helpCommand("help [command]", "Show help for a command.")
    .addHelpText(
      "after",
      "\nExit codes: 0 success, 1 failure, 2 wrong usage, 3 not held or not yet\n(status --exit-code, wait), or something to change (advise).",
    );

/** Commander throws instead of ending the process, and writes where the terminal is. */
const framed = (command: Command, { out, notify }: Terminal, parent = ""): Command => {
  const required = requireLast(command);
  return command
    .helpOption("-h, --help", "display help")
    .configureHelp({
      optionDescription: (option) => described(option, required.includes(option)),
      argumentDescription: named,
    })
    .exitOverride()
    .showHelpAfterError(seeHelp(`${parent} ${command.name()}`.trim()))
    .configureOutput({
      writeOut: (text) => out(text.trimEnd()),
      writeErr: (text) => notify(text.trimEnd()),
    });
};

/** Commander would complain of a missing flag before it names the misspelled one beside it. */
function requireLast(command: Command): readonly Option[] {
  const required = command.options.filter(({ mandatory }) => mandatory);
  for (const option of required) option.makeOptionMandatory(false);
  command.hook("preAction", (_, action) => {
    const missing = required.find((one) => action.getOptionValue(one.attributeName()) === undefined);
    if (missing) action.error(`error: required option '${missing.flags}' not specified`);
  });
  return required;
}

/** An option's line of help: whether it is required, its choices, its default. */
function described(option: Option, isRequired: boolean): string {
  const fallback = option.defaultValueDescription ?? option.defaultValue;
  if (fallback !== undefined) return `${named(option)} (default: ${fallback})`;
  return isRequired ? `${named(option)} (required)` : named(option);
}

const named = ({ description, argChoices }: Option | Argument): string =>
  argChoices ? `${description}: ${argChoices.join(", ")}` : description;
