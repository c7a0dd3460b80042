import type { Duration } from "../../lambda/core/duration.ts";
import type { Terminal } from "./terminal.ts";
import { about } from "./text.ts";

/** A part of the work that is under way. */
export type Task = Readonly<{
  /** How much of it is done, from 0 to 1, and what it is doing now. */
  advance: (share: number, now?: string) => void;
  /** Ends it; the line stays on the screen or in the log. */
  end: (line?: string) => void;
}>;

/** A terminal shows a line that moves; a log gets a line now and then. */
const pace = { moving: 500, logged: 30_000 } as const;

/** Shows what long work is doing, how much of it is done, and an estimate of the time left. */
export class Progress {
  readonly #total: number;
  readonly #terminal: Pick<Terminal, "notify" | "rewrite">;
  readonly #now: () => number;
  readonly #running = new Map<symbol, Readonly<{ name: string; size: number; share: () => number }>>();
  readonly #begun: number;
  readonly #timer: NodeJS.Timeout;
  #ended = 0;
  #lastLine: number;

  /** `total` is the sum of all tasks' sizes, in any unit that grows with their time. */
  constructor(total: number, terminal: Pick<Terminal, "notify" | "rewrite">, now = () => performance.now()) {
    this.#total = total;
    this.#terminal = terminal;
    this.#now = now;
    this.#begun = now();
    this.#lastLine = this.#begun;
    this.#timer = setInterval(() => this.#show(), 1_000).unref();
  }

  begin(name: string, size = 1): Task {
    return this.#begin(name, size, () => 0);
  }

  /** A task that cannot measure its progress: it is estimated from the usual time, which is also the task's size. */
  beginTimed(name: string, usual: Duration): Task {
    const begun = this.#now();
    return this.#begin(name, usual, () => Math.min(0.95, (this.#now() - begun) / usual));
  }

  #begin(name: string, size: number, atFirst: () => number): Task {
    const key = Symbol(name);
    this.#running.set(key, { name, size, share: atFirst });
    this.#show();
    return {
      advance: (share, now) => {
        this.#running.set(key, { name: now ? `${name}: ${now}` : name, size, share: () => share });
        this.#show();
      },
      end: (line) => {
        if (this.#running.delete(key)) this.#ended += size;
        if (line !== undefined) this.print(line);
      },
    };
  }

  /** Prints a line that stays. */
  print(line: string): void {
    this.#terminal.rewrite?.("");
    this.#terminal.notify(line);
  }

  /** Removes the moving line. */
  stop(): void {
    clearInterval(this.#timer);
    this.#terminal.rewrite?.("");
  }

  #show(): void {
    const { notify, rewrite } = this.#terminal;
    const now = this.#now();
    if (now - this.#lastLine < (rewrite ? pace.moving : pace.logged)) return;
    this.#lastLine = now;
    const running = [...this.#running.values()];
    const done = running.reduce((sum, { size, share }) => sum + size * share(), this.#ended) / this.#total;
    const left = done > 0 ? `, about ${about(((now - this.#begun) / done) * (1 - done))} left` : "";
    const line = `${Math.floor(done * 100)} % done${left}; ${running.map(({ name }) => name).join(", ")}`;
    if (rewrite) rewrite(line);
    else notify(line);
  }
}
