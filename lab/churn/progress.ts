import { formatDuration } from "../../lambda/core/duration.ts";

/** Prints which tasks run, how far they are and an estimate of the time left: on a terminal in one line, else a line a minute. */
export class Progress {
  readonly #lengths: readonly number[];
  readonly #parallel: number;
  readonly #running = new Map<string, number>();
  readonly #begin = performance.now();
  readonly #isTerminal = process.stderr.isTTY;
  #done = 0;
  #lastLine = 0;

  /** The expected length of every task, in any unit. */
  constructor(lengths: readonly number[], parallel: number) {
    this.#lengths = lengths;
    this.#parallel = parallel;
  }

  begin(name: string): Readonly<{ advance: (share: number) => void; end: (line: string) => void }> {
    this.#running.set(name, 0);
    this.#print(`started: ${name}`);
    return {
      advance: (share) => {
        this.#running.set(name, share);
        this.#show();
      },
      end: (line) => {
        this.#running.delete(name);
        this.#done += 1;
        this.#print(line);
      },
    };
  }

  #show(): void {
    const now = performance.now();
    if (now - this.#lastLine < (this.#isTerminal ? 1_000 : 60_000)) return;
    this.#lastLine = now;
    const tasks = [...this.#running].map(([name, share]) => `${name} ${Math.round(share * 100)} %`);
    const line = `${this.#done} of ${this.#lengths.length} done, about ${this.#left()} left; ${tasks.join("; ")}`;
    process.stderr.write(this.#isTerminal ? `\r\x1b[K${line}` : `${line}\n`);
  }

  /** Estimated from the lengths in seconds; starting a cluster takes some seconds more. */
  #left(): string {
    const total = this.#lengths.reduce((sum, length) => sum + length + 20, 0);
    const elapsed = (performance.now() - this.#begin) / 1_000;
    return formatDuration(Math.max(0, total / this.#parallel - elapsed) * 1_000);
  }

  #print(line: string): void {
    process.stderr.write(this.#isTerminal ? `\r\x1b[K${line}\n` : `${line}\n`);
  }
}
