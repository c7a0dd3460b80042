import type { ChildProcess } from "node:child_process";
import { createWriteStream, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { spawnGuarded } from "../../support/guarded.ts";
import { engineEnvironment, engineFolder } from "../runner/run-folder.ts";
import { PortTakenError } from "./ports.ts";

export type Started = Readonly<{ name: string; child: ChildProcess; log: string }>;

/**
 * Long, for a busy machine; a wait for a process that has ended does not last so long. It ends before a launch that failed is
 * delivered again, after twelve minutes: else a test would pass by the retry.
 */
export const patience = 600_000;

/** Processes that are stopped together, the last started first; they all end when this process ends. */
export class Processes {
  /** A new folder of theirs. */
  readonly folder: string;
  readonly #started: Started[] = [];

  constructor(name: string) {
    this.folder = engineFolder(name);
  }

  start(
    name: string,
    command: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Started {
    const log = join(this.folder, `${name}.log`);
    const child = spawnGuarded(command, args, {
      cwd: this.folder,
      env: { ...engineEnvironment(this.folder), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    writeFileSync(log, "", { flag: "a" }); // so that it can be read at once
    const out = createWriteStream(log, { flags: "a" });
    child.stdout?.pipe(out, { end: false });
    child.stderr?.pipe(out, { end: false });
    child.once("close", () => out.end());
    child.once("error", (error) => out.write(`${error}\n`));
    const started = { name, child, log };
    this.#started.push(started);
    return started;
  }

  /** Kills one process and waits until it has ended: its data is deleted afterwards anyway. */
  async stop(started: Started): Promise<void> {
    // A process that we stop has not failed.
    const at = this.#started.indexOf(started);
    if (at >= 0) this.#started.splice(at, 1);
    const { child } = started;
    if (isGone(child)) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGKILL");
    await gone;
  }

  async stopAll(): Promise<void> {
    for (const started of this.#started.toReversed()) await this.stop(started);
  }

  /** Waits until the condition is true; fails early when one of these processes has ended. */
  async until(what: string, condition: () => Promise<boolean>, within = patience): Promise<void> {
    const isMet = async () => {
      const ended = this.#started.find(({ child }) => isGone(child));
      if (ended) throw await earlyEnd(ended, what);
      return condition();
    };
    await until(what, isMet, within);
  }
}

const isGone = (child: ChildProcess): boolean =>
  child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

async function earlyEnd({ name, child, log }: Started, what: string): Promise<Error> {
  await sleep(100); // its last lines may not be in the log yet
  const lines = readFileSync(log, "utf8").trimEnd();
  const how = child.signalCode ?? child.exitCode ?? "an error";
  const text = `${name} ended with ${how} before ${what}; ${log} ends with:\n${lines.slice(-2_000)}`;
  return /already in use/i.test(lines) ? new PortTakenError(text) : new Error(text);
}

/** Of the time from one check to the next, no more counts as waiting: a machine may stand still, and do nothing meanwhile. */
const mostBetweenChecks = 5_000;

/** Checks a condition until it is true; the error after the time limit names it. */
export async function until(
  what: string,
  condition: () => Promise<boolean>,
  within = patience,
  every = 100,
): Promise<void> {
  let waited = 0;
  for (let last = performance.now(); !(await condition()); ) {
    const now = performance.now();
    waited += Math.min(now - last, mostBetweenChecks);
    last = now;
    if (waited > within) throw new Error(`waited ${Math.round(within / 1000)} s without success for ${what}`);
    await sleep(every);
  }
}
