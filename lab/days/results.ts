import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { isProof, parseRunResult, type RunResult } from "./result.ts";
import type { Prepared } from "./spec.ts";

/** Results as lines of JSON in a file that only grows, so that a comparison that was interrupted goes on. */
export class Results {
  readonly #file: string;
  readonly #byKey = new Map<string, RunResult>();
  /** Ends a last line that was cut off. */
  #before = "";

  constructor(file: string) {
    this.#file = file;
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    if (text !== "" && !text.endsWith("\n")) this.#before = "\n";
    for (const result of text.split("\n").flatMap((line) => parseRunResult(line) ?? []))
      if (isProof(result)) this.#byKey.set(result.key, result);
  }

  /** The newest result of this run, with its names: a copy of a trace has the same key. */
  find({ key, spec }: Pick<Prepared, "key" | "spec">): RunResult | undefined {
    const found = this.#byKey.get(key);
    return found && { ...found, trace: spec.source.name, types: spec.types, arm: spec.arm };
  }

  add(result: RunResult): void {
    mkdirSync(dirname(this.#file), { recursive: true });
    appendFileSync(this.#file, `${this.#before}${JSON.stringify(result)}\n`);
    this.#before = "";
    this.#byKey.set(result.key, result);
  }
}
