import type { Command } from "commander";
import { advise } from "./commands/advise.ts";
import { doctor } from "./commands/doctor.ts";
import { history } from "./commands/history.ts";
import { manifest } from "./commands/manifest.ts";
import { hold, pause, release, resume } from "./commands/operate.ts";
import { run } from "./commands/run.ts";
import { status } from "./commands/status.ts";
import { template } from "./commands/template.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** One command: its name, flags and action. The action loads heavy imports. */
export type MakeCommand = (terminal: Terminal) => Command;

/** Every command, in the order of the help. */
export const commands: readonly MakeCommand[] = [
  status,
  hold,
  release,
  pause,
  resume,
  history,
  doctor,
  advise,
  manifest,
  template,
  run,
];
