import type { Command } from "commander";
import { advise } from "./advise.ts";
import { completion } from "./completion.ts";
import { doctor } from "./doctor.ts";
import { history } from "./history.ts";
import { hold } from "./hold.ts";
import { manifest } from "./manifest.ts";
import { pause } from "./pause.ts";
import { release } from "./release.ts";
import { resume } from "./resume.ts";
import { run } from "./run.ts";
import { status } from "./status.ts";
import type { Terminal } from "./terminal.ts";

/** One command: what it is called, what can be said to it, what it does. Its heavy imports wait for its action. */
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
  run,
  completion,
];
