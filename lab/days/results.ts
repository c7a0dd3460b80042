import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { parseRunResult, type RunResult } from "./result.ts";

/** Results as lines of JSON in a file that only grows, so that a comparison that was interrupted goes on. */
export class Results {
  readonly #file: string;
  readonly #byKey = new Map<string, RunResult>();

  constructor(file: string) {
    this.#file = file;
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    for (const result of text.split("\n").flatMap((line) => parseRunResult(line) ?? []))
      this.#byKey.set(result.key, result);
  }

  /** The newest result of these inputs. */
  find(key: string): RunResult | undefined {
    return this.#byKey.get(key);
  }

  add(result: RunResult): void {
    mkdirSync(dirname(this.#file), { recursive: true });
    appendFileSync(this.#file, `${JSON.stringify(result)}\n`);
    this.#byKey.set(result.key, result);
  }
}
