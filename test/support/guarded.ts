import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { join } from "node:path";
import { Writable } from "node:stream";

export const guard = join(import.meta.dirname, "guard.sh");

type Output = "ignore" | "inherit" | "pipe";

export type GuardedOptions = Readonly<{
  stdio: readonly ["ignore", Output, Output];
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** In a process group of its own, which ends as a whole. */
  group?: boolean;
}>;

/** Starts a program that never outlives us: it is killed when we are gone, also by `kill -9`. */
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
  watched.on("error", () => {}); // the watcher was ended with its group
  // Its process id may soon be another's.
  child.once("exit", () => watched.end("ended\n"));
  return child;
}
