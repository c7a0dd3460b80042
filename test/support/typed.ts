import { commandLine } from "../../cli/command-line.ts";
import { CollectedTerminal } from "./collected-terminal.ts";

/** Types a command, and returns how it ended and what it printed. */
export async function typed(words: readonly string[], env?: Readonly<Record<string, string>>) {
  const terminal = new CollectedTerminal(env);
  const exit = await commandLine(words, terminal);
  return { exit, output: terminal.output, reported: terminal.reported };
}
