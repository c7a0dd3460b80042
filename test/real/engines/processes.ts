import type { ChildProcess } from "node:child_process";
import { createWriteStream, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { spawnGuarded } from "../../support/guarded.ts";
import { engineEnvironment, engineFolder } from "../runner/run-folder.ts";
import { PortTakenError } from "./ports.ts";

export type Started = Readonly<{ name: string; child: ChildProcess; log: string }>;

/** Processes that are stopped together, last started first; none of them outlives this one. */
export class Processes {
  readonly folder: string;
  readonly #started: Started[] = [];

  /** A fresh folder is made for them unless one is given. */
  constructor(name: string, folder = engineFolder(name)) {
    this.folder = folder;
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
    writeFileSync(log, "", { flag: "a" }); // it can be read from now on
    const out = createWriteStream(log, { flags: "a" });
    child.stdout?.pipe(out, { end: false });
    child.stderr?.pipe(out, { end: false });
    child.once("close", () => out.end());
    child.once("error", (error) => out.write(`${error}\n`));
    const started = { name, child, log };
    this.#started.push(started);
    return started;
  }

  /** Stops one process and waits until it is gone; one that does not listen is killed after the grace time. */
  async stop(started: Started, signal: NodeJS.Signals = "SIGTERM", grace = 10_000): Promise<void> {
    // Whoever was told to stop has not failed.
    const at = this.#started.indexOf(started);
    if (at >= 0) this.#started.splice(at, 1);
    const { child } = started;
    if (isGone(child)) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill(signal);
    const kill = setTimeout(() => child.kill("SIGKILL"), grace);
    await gone;
    clearTimeout(kill);
  }

  /** Everything here is thrown away afterwards, so nobody is given time to say goodbye. */
  async stopAll(): Promise<void> {
    for (const started of this.#started.toReversed()) await this.stop(started, "SIGKILL");
  }

  /** Waits until the condition holds; ends early when one of these processes died. */
  async until(what: string, condition: () => Promise<boolean>, within = 60_000): Promise<void> {
    const isMet = async () => {
      const dead = this.#started.find(({ child }) => isGone(child));
      if (dead) throw await causeOfDeath(dead, what);
      return condition();
    };
    await until(what, isMet, within);
  }
}

const isGone = (child: ChildProcess): boolean =>
  child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

async function causeOfDeath({ name, child, log }: Started, what: string): Promise<Error> {
  await sleep(100); // its last words are still on their way into the log
  const words = readFileSync(log, "utf8").trimEnd();
  const how = child.signalCode ?? child.exitCode ?? "an error";
  const text = `${name} ended with ${how} before ${what}; ${log} ends with:\n${words.slice(-2_000)}`;
  return /already in use/i.test(words) ? new PortTakenError(text) : new Error(text);
}

/** Waits for a condition by asking again and again; says what it waited for when time is up. */
export async function until(
  what: string,
  condition: () => Promise<boolean>,
  within = 60_000,
  every = 100,
): Promise<void> {
  const end = performance.now() + within;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`waited ${Math.round(within / 1000)} s in vain for ${what}`);
    await sleep(every);
  }
}
