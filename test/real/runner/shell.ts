import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { dirname, resolve } from "node:path";
import { messageOf } from "../../../lambda/core/errors.ts";
import { spawnGuarded } from "../../support/guarded.ts";
import { nodeFirst } from "../emulator/emulator.ts";
import { program } from "../engines/build.ts";
import { until } from "../engines/processes.ts";
import { engineEnvironment } from "./run-folder.ts";

const root = resolve(import.meta.dirname, "../../..");

/** How a command ended: its exit code, its stdout and its stderr. */
export type Ended = Readonly<{ exit: number | null; output: string; errors: string }>;

type Environment = Readonly<Record<string, string>>;

/** Runs commands in a shell and stops all of them at the end. */
export class Shell {
  readonly #env: Environment;
  readonly #jobs = new Set<RunningCommand>();

  /** The folder is its home and has its temporary files. */
  constructor(folder: string, env: Environment = {}) {
    const inherited = Object.entries(engineEnvironment(folder)).filter(
      // Without the variables that Vitest sets.
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

  /** Runs a command until it ends, with any exit code. */
  async try(command: string): Promise<Ended> {
    const job = this.open(command);
    await job.ended;
    return { exit: job.exit, output: job.output, errors: job.errors };
  }

  /** Runs a command that must succeed; returns its output. */
  async run(command: string): Promise<string> {
    const { exit, output, errors } = await this.try(command);
    if (exit === 0) return output;
    // The report of a suite shows one line of an error.
    const lines = (output + errors).trim().split("\n");
    const why = lines.findLast((line) => /error|fail|waited/i.test(line)) ?? lines.at(-1) ?? "";
    throw new Error(`${command} ended with ${exit}: ${why.trim()}\n${lines.slice(-100).join("\n")}`);
  }

  /** Starts a command that keeps running. */
  open(command: string): RunningCommand {
    const job = new RunningCommand(command, this.#env);
    this.#jobs.add(job);
    return job;
  }

  async stop(): Promise<void> {
    for (const job of this.#jobs) await job.kill();
  }
}

/** A running command in its own process group, as a shell starts it: Ctrl-C reaches all its processes. */
export class RunningCommand {
  output = "";
  errors = "";
  /** Resolves when it has ended and its output is complete. */
  readonly ended: Promise<unknown>;
  readonly #command: string;
  readonly #child: ChildProcess;
  #isClosed = false;

  constructor(command: string, env: Environment) {
    const child = spawnGuarded("sh", ["-c", command], {
      cwd: root,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      group: true,
    });
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.output += text;
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.errors += text;
    });
    this.#command = command;
    this.#child = child;
    this.ended = once(child, "close");
    child.once("close", () => {
      this.#isClosed = true;
    });
  }

  get exit(): number | null {
    return this.#child.exitCode;
  }

  /** Waits until it prints this; returns the match of the first group. */
  async prints(pattern: RegExp, within?: number): Promise<string> {
    const isPrinted = async () => {
      if (pattern.test(this.output)) return true;
      if (this.#isOver())
        throw new Error(`${this.#command} ended before ${pattern}: ${this.output}${this.errors}`);
      return false;
    };
    await until(`${this.#command} to print ${pattern}`, isPrinted, within).catch((error: unknown) => {
      const last = (this.output + this.errors).trim().split("\n").at(-1);
      throw new Error(`${messageOf(error)}; it printed last: ${last}`);
    });
    return pattern.exec(this.output)?.[1] ?? "";
  }

  /** Sends Ctrl-C and waits until all its processes have ended. */
  async interrupt(): Promise<void> {
    this.#signal("SIGINT");
    await until(`${this.#command} to end after Ctrl-C`, async () => this.#isClosed);
  }

  /** The engines of its processes end with them. */
  async kill(): Promise<void> {
    this.#signal("SIGKILL");
    await this.ended;
  }

  #isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  #signal(name: NodeJS.Signals): void {
    if (!this.#isOver()) process.kill(-(this.#child.pid ?? 0), name);
  }
}
