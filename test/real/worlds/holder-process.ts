import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { messageOf } from "../../../lambda/core/errors.ts";
import { spawnGuarded } from "../../support/guarded.ts";
import { patience, until } from "../engines/processes.ts";

export type LogLine = Readonly<{ level: string; message: string } & Record<string, unknown>>;
export type Ended = Readonly<{ code: number | null; signal: NodeJS.Signals | null }>;

const sources = join(import.meta.dirname, "../../../cli/main.ts");

/** The command `run` as a separate process, and its log. */
export class HolderProcess {
  readonly lines: LogLine[] = [];
  /** Its stderr. */
  errors = "";
  readonly #child: ChildProcess;
  readonly #ended: Promise<Ended>;

  constructor(flags: readonly string[], env: Readonly<Record<string, string>> = {}, main = sources) {
    const args = [main, "run", "--log", "json", ...flags];
    const child = spawnGuarded(process.execPath, args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...env },
    });
    const { stdout, stderr } = child;
    if (!stdout || !stderr) throw new Error("the holder has no output");
    this.#child = child;
    this.#ended = once(child, "exit").then(([code, signal]) => ({ code, signal }));
    createInterface({ input: stdout }).on("line", (line) => this.lines.push(JSON.parse(line)));
    stderr.on("data", (text) => {
      this.errors += text;
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** All log lines with this message. */
  logged(message: string): readonly LogLine[] {
    return this.lines.filter((line) => line.message === message);
  }

  /** Waits until it has logged this message, or rejects when it ended before. */
  async until(message: string, within = patience): Promise<LogLine> {
    const found = () => this.logged(message)[0];
    const isLogged = async () => {
      if (found() === undefined && this.#child.exitCode !== null)
        throw new Error(`it ended before "${message}"`);
      return found() !== undefined;
    };
    await until(`"${message}"`, isLogged, within, 20).catch((error: unknown) => {
      throw new Error(`${messageOf(error)}, after "${this.lines.at(-1)?.message}": ${this.errors}`);
    });
    return found() as LogLine;
  }

  /** Kills it. */
  kill(): Promise<Ended> {
    this.#child.kill("SIGKILL");
    return this.ended();
  }

  /** Closes the pipes of its output, as `tee` does when Ctrl-C ends it. */
  closeOutput(): void {
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }

  /** Stops it with SIGTERM and waits until it has ended. */
  stop(): Promise<Ended> {
    this.#child.kill("SIGTERM");
    return this.ended();
  }

  ended(): Promise<Ended> {
    return this.#ended;
  }
}
