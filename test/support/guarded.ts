import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { join } from "node:path";
import { Writable } from "node:stream";

const guard = join(import.meta.dirname, "guard.sh");

type Output = "ignore" | "inherit" | "pipe";

export type GuardedOptions = Readonly<{
  stdio: readonly ["ignore", Output, Output];
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Starts it in its own process group, which is killed as a whole. */
  group?: boolean;
}>;

/** Starts a program that is killed when this process ends, also after `kill -9`. */
export function spawnGuarded(
  command: string,
  args: readonly string[],
  { stdio, group = false, ...rest }: GuardedOptions,
): ChildProcess {
  const channels: StdioOptions = [...stdio, "pipe"];
  const that = group ? "group" : "process";
  const child = spawn("/bin/sh", [guard, that, command, ...args], {
    ...rest,
    stdio: channels,
    detached: group,
  });
  const watched = child.stdio[3];
  if (!(watched instanceof Writable)) throw new Error("no pipe to the watcher");
  watched.on("error", () => {}); // the watcher ended with its group
  // Another process may get its id soon.
  child.once("exit", () => watched.end("ended\n"));
  return child;
}
