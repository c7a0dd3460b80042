import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Duration, minutes } from "../../../lambda/core/duration.ts";

const unknown = minutes(3);

/** How long each piece of work took when it last succeeded on this machine, kept in a folder. */
export class UsualTimes {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  of(name: string): Duration {
    const file = join(this.#folder, name);
    return existsSync(file) ? Number(readFileSync(file, "utf8")) || unknown : unknown;
  }

  keep(name: string, took: Duration): void {
    mkdirSync(this.#folder, { recursive: true });
    writeFileSync(join(this.#folder, name), String(Math.round(took)));
  }
}
