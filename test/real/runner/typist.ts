import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { dirname, resolve } from "node:path";
import { expect } from "vitest";
import { spawnGuarded } from "../../support/guarded.ts";
import { nodeFirst } from "../emulator/emulator.ts";
import { program } from "../engines/build.ts";
import { processTable, type Row } from "../engines/process-table.ts";
import { until } from "../engines/processes.ts";
import { engineEnvironment } from "./run-folder.ts";

const root = resolve(import.meta.dirname, "../../..");

/** How a command ended: its exit code, its output, and what else it told. */
export type Ended = Readonly<{ exit: number | null; output: string; told: string }>;

type Environment = Readonly<Record<string, string>>;

/** Runs commands in a shell, and stops all of them at the end. */
export class Typist {
  readonly #env: Environment;
  readonly #jobs = new Set<Job>();

  /** In the folder is its home, and whatever is temporary. */
  constructor(folder: string, env: Environment = {}) {
    const inherited = Object.entries(engineEnvironment(folder)).filter(
      // A shell does not know that it is in a test.
      ([name]) => !/^(VITEST|TEST$|NODE_ENV$)/.test(name),
    );
    this.#env = {
      ...Object.fromEntries(inherited),
      PATH: `${dirname(program("kubectl"))}:${nodeFirst}`,
      HOME: folder,
      NO_COLOR: "1",
      NPM_CONFIG_UPDATE_NOTIFIER: "false",
      ...env,
    };
  }

  /** Types a command and waits until it is done. */
  async type(command: string, cwd?: string): Promise<Ended> {
    const job = this.open(command, cwd);
    await job.ended;
    return { exit: job.exit, output: job.output, told: job.told };
  }

  /** Types a command that must end well; tells its output. */
  async done(command: string, cwd?: string): Promise<string> {
    const { exit, output, told } = await this.type(command, cwd);
    expect({ command, exit, told: exit === 0 ? "" : output + told }).toEqual({ command, exit: 0, told: "" });
    return output;
  }

  /** Types a command that stays up. */
  open(command: string, cwd = root): Job {
    const job = new Job(command, cwd, this.#env);
    this.#jobs.add(job);
    return job;
  }

  async stop(): Promise<void> {
    for (const job of this.#jobs) await job.kill();
  }
}

/** A command at work in a process group of its own, as a shell does it: Ctrl-C reaches all of it. */
export class Job {
  output = "";
  told = "";
  /** When it is over, and nobody can say anything more. */
  readonly ended: Promise<unknown>;
  readonly #command: string;
  readonly #child: ChildProcess;
  #isSilent = false;

  constructor(command: string, cwd: string, env: Environment) {
    const child = spawnGuarded("sh", ["-c", command], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      group: true,
    });
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.output += text;
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.told += text;
    });
    this.#command = command;
    this.#child = child;
    this.ended = once(child, "close");
    child.once("close", () => {
      this.#isSilent = true;
    });
  }

  get exit(): number | null {
    return this.#child.exitCode;
  }

  /** Waits until it puts this out; tells what stands in the first parentheses. */
  async says(pattern: RegExp, within?: number): Promise<string> {
    const isSaid = async () => {
      if (pattern.test(this.output)) return true;
      if (this.#isOver())
        throw new Error(`${this.#command} ended before ${pattern}: ${this.output}${this.told}`);
      return false;
    };
    await until(`${this.#command} to say ${pattern}`, isSaid, within);
    return pattern.exec(this.output)?.[1] ?? "";
  }

  /** Ctrl-C, and waits until all of it has gone. */
  async interrupt(): Promise<void> {
    this.#signal("SIGINT");
    await until(`${this.#command} to end after Ctrl-C`, async () => this.#isSilent);
  }

  /** Also those of its children who have a group of their own, which no signal to its group reaches. */
  async kill(): Promise<void> {
    if (this.#isOver()) return;
    const family = descendantsOf(this.#child.pid ?? 0, await processTable());
    this.#signal("SIGKILL");
    for (const pid of family) kill(pid);
    await this.ended;
  }

  #isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  #signal(name: NodeJS.Signals): void {
    if (!this.#isOver()) process.kill(-(this.#child.pid ?? 0), name);
  }
}

const descendantsOf = (parent: number, table: readonly Row[]): readonly number[] =>
  table.filter((row) => row.parent === parent).flatMap(({ pid }) => [pid, ...descendantsOf(pid, table)]);

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It went with its group.
  }
}
