import type { HolderFlags } from "../terminal/cluster-flags.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { ControlClient } from "./client.ts";
import { deployedHolder } from "./deployed.ts";
import { runningHolder } from "./running.ts";

/** The holder that the flags name. */
export const controlOf = async (flags: HolderFlags, env: Terminal["env"]): Promise<ControlClient> =>
  flags.run === undefined ? deployedHolder(flags, env) : runningHolder(flags.run, env);
