import type { Terminal } from "../../cli/terminal/terminal.ts";

/** A terminal that keeps what it was reported; nobody watches it, so it has no colours. */
export class CollectedTerminal implements Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isWatched = false;
  readonly #out: string[] = [];
  readonly #reported: string[] = [];

  constructor(env: Readonly<Record<string, string | undefined>> = {}) {
    this.env = env;
  }

  readonly out = (line: string): void => void this.#out.push(line);
  readonly notify = (line: string): void => void this.#reported.push(line);
  readonly style = (_style: unknown, text: string): string => text;

  /** What a pipe would read. */
  get output(): string {
    return this.#out.join("\n");
  }

  /** What people were reported beside it. */
  get reported(): string {
    return this.#reported.join("\n");
  }
}
