import type { Command } from "commander";
import { manifest } from "./manifest.ts";
import { run } from "./run.ts";
import type { Terminal } from "./terminal.ts";

/** One command: what it is called, what can be said to it, what it does. Its heavy imports wait for its action. */
export type MakeCommand = (terminal: Terminal) => Command;

/** Every command, in the order of the help. */
export const commands: readonly MakeCommand[] = [run, manifest];
