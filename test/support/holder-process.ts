import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { spawnGuarded } from "./guarded.ts";

export type LogLine = Readonly<{ level: string; message: string } & Record<string, unknown>>;
export type Ended = Readonly<{ code: number | null; signal: NodeJS.Signals | null }>;

const main = join(import.meta.dirname, "../../cli/main.ts");

/** The command `run` as a process of its own, and what it logs. */
export class HolderProcess {
  readonly lines: LogLine[] = [];
  /** What it reported beside its log. */
  reported = "";
  readonly #child: ChildProcess;
  readonly #ended: Promise<Ended>;

  constructor(flags: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const args = [main, "run", "--log", "json", ...flags];
    const child = spawnGuarded(process.execPath, args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...env },
    });
    const { stdout, stderr } = child;
    if (!stdout || !stderr) throw new Error("the holder cannot be heard");
    this.#child = child;
    this.#ended = once(child, "exit").then(([code, signal]) => ({ code, signal }));
    createInterface({ input: stdout }).on("line", (line) => this.lines.push(JSON.parse(line)));
    stderr.on("data", (text) => {
      this.reported += text;
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Everything it logged with this message. */
  logged(message: string): readonly LogLine[] {
    return this.lines.filter((line) => line.message === message);
  }

  /** Waits until it has logged this message, or rejects when it ended before. */
  async until(message: string, within = 60_000): Promise<LogLine> {
    const end = performance.now() + within;
    for (;;) {
      const [line] = this.logged(message);
      if (line) return line;
      if (this.#child.exitCode !== null) throw new Error(`it ended before "${message}": ${this.reported}`);
      if (performance.now() > end) throw new Error(`waited in vain for "${message}": ${this.reported}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Ends it as it is, in the middle of whatever it does. */
  kill(): Promise<Ended> {
    this.#child.kill("SIGKILL");
    return this.ended();
  }

  /** Reads no more of what it reports, as `tee` does once Ctrl-C has ended it. */
  turnAway(): void {
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }

  /** Asks it to stop and waits until it has. */
  stop(): Promise<Ended> {
    this.#child.kill("SIGTERM");
    return this.ended();
  }

  ended(): Promise<Ended> {
    return this.#ended;
  }
}
