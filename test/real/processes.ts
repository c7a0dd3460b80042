import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, createWriteStream, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export type Started = Readonly<{ name: string; child: ChildProcess; log: string }>;

/** Processes that are stopped together, last started first; nothing of them outlives this one. */
export class Processes {
  readonly folder: string;
  readonly #started: Started[] = [];

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.folder = folder;
    process.once("exit", this.#killAll);
  }

  start(
    name: string,
    command: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Started {
    const log = join(this.folder, `${name}.log`);
    const child = spawn(command, args, {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const out = createWriteStream(log, { flags: "a" });
    child.stdout.pipe(out, { end: false });
    child.stderr.pipe(out, { end: false });
    child.once("close", () => out.end());
    child.once("error", (error) => out.write(`${error}\n`));
    const started = { name, child, log };
    this.#started.push(started);
    notePid(child.pid);
    return started;
  }

  /** Stops one process and waits until it is gone. */
  async stop(started: Started, signal: NodeJS.Signals = "SIGTERM", grace = 10_000): Promise<void> {
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
    process.removeListener("exit", this.#killAll);
  }

  /** Waits until the condition holds; ends early when one of these processes died. */
  async until(what: string, condition: () => Promise<boolean>, within = 60_000): Promise<void> {
    await until(
      what,
      async () => {
        const dead = this.#started.find(({ child }) => child.exitCode !== null && child.exitCode !== 0);
        if (dead)
          throw new Error(`${dead.name} ended with ${dead.child.exitCode} before ${what}: see ${dead.log}`);
        return condition();
      },
      within,
    );
  }

  readonly #killAll = () => {
    for (const { child } of this.#started.toReversed()) if (!isGone(child)) child.kill("SIGKILL");
  };
}

const isGone = (child: ChildProcess): boolean =>
  child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

/** Where the runner finds what a killed suite left behind. */
export function notePid(pid: number | undefined): void {
  const list = process.env.KNH_PIDS;
  if (list && pid !== undefined) appendFileSync(list, `${pid}\n`);
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

/** Ports nobody listens on right now; all are held open together, so that they differ. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, listen));
  return Promise.all(
    servers.map(async (server) => {
      const address = server.address();
      await new Promise((resolve) => server.close(resolve));
      if (address === null || typeof address === "string")
        throw new Error("no port could be had on loopback");
      return address.port;
    }),
  );
}

const listen = () =>
  new Promise<ReturnType<typeof createServer>>((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve(server));
  });
