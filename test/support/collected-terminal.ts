import type { Terminal } from "../../cli/terminal/terminal.ts";

/** A terminal that collects its output; not interactive, so without colours. */
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

  /** Everything printed to stdout. */
  get output(): string {
    return this.#out.join("\n");
  }

  /** Everything printed to stderr. */
  get reported(): string {
    return this.#reported.join("\n");
  }
}
