import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { type Duration, formatDuration, minutes } from "../../lambda/core/duration.ts";

/** A line that the engine printed does not fit what was expected of it, or it ended too early. */
export class EngineError extends Error {
  override readonly name = "EngineError";
}

export type EngineCommand = Readonly<{ program: string; args: readonly string[]; cwd?: string }>;

/** So much of what the engine printed on stderr is part of an error: a crash has its reason first, then every goroutine. */
const longestStart = 2_000;
const longestEnd = 2_000;
/** An engine that prints nothing for so long waits for ever: a turn was lost. */
const patience: Duration = minutes(10);

/** The engine as a process that exchanges lines of JSON: no value is lost, and every end that is not its own is an error. */
export class EngineProcess {
  readonly #child: ChildProcess;
  readonly #exit: Promise<readonly unknown[]>;
  readonly #patience: Duration;
  #start = "";
  #end = "";
  #isStopped = false;

  constructor({ program, args, cwd }: EngineCommand, silence: Duration = patience) {
    this.#patience = silence;
    this.#child = spawn(program, args, { cwd, stdio: ["pipe", "pipe", "pipe"] });
    this.#exit = once(this.#child, "exit").catch((error: unknown) => [undefined, undefined, error]);
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      const room = longestStart - this.#start.length;
      this.#start += text.slice(0, room);
      this.#end = (this.#end + text.slice(room)).slice(-longestEnd);
    });
    // A write after its end fails; the end itself is reported.
    this.#child.stdin?.on("error", () => {});
  }

  send(value: unknown): void {
    this.#child.stdin?.write(`${JSON.stringify(value)}\n`);
  }

  /** Every line until the engine has ended; an error when it ended otherwise than by itself, or is silent for too long. */
  async *lines(): AsyncGenerator<Readonly<Record<string, unknown>>, void> {
    const { stdout } = this.#child;
    if (!stdout) throw new EngineError("the engine has no stdout");
    const timer = setTimeout(() => this.#fallSilent(), this.#patience);
    try {
      for await (const line of createInterface({ input: stdout, crlfDelay: Number.POSITIVE_INFINITY })) {
        timer.refresh();
        yield readLine(line);
      }
      const [code, signal, error] = await this.#exit;
      if (code !== 0 && !this.#isStopped) throw this.#ended(error ?? signal ?? `exit code ${code}`);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The error of an engine that ended before what was expected. */
  endedBefore(what: string): EngineError {
    return new EngineError(`the engine ended before ${what}${this.#printed()}`);
  }

  /** Kills it by its id and waits until it has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill("SIGKILL");
    await this.#exit;
  }

  #silence: EngineError | undefined;

  #fallSilent(): void {
    this.#silence = new EngineError(
      `the engine printed nothing for ${formatDuration(this.#patience)}: a turn was lost${this.#printed()}`,
    );
    this.#child.kill("SIGKILL");
  }

  #ended(how: unknown): EngineError {
    return this.#silence ?? new EngineError(`the engine ended with ${how}${this.#printed()}`);
  }

  #printed(): string {
    const text = [this.#start, this.#end]
      .map((part) => part.trim())
      .join("\n")
      .trim();
    return text === "" ? "" : `; it printed:\n${text}`;
  }
}

function readLine(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Readonly<Record<string, unknown>>;
  } catch {
    // The same error as for other values.
  }
  throw new EngineError(`the engine printed a line that is no JSON object: ${line.slice(0, 200)}`);
}
