import { join } from "node:path";
import { type Job, partsOf } from "../runner/jobs.ts";
import { runGroup } from "../runner/run-group.ts";
import type { Part } from "./build.ts";

/** Builds what jobs need, one part after the other; a job can run as soon as its parts are built. */
export class Builds {
  readonly #ended = new Map<Part, "built" | "failed">();

  /** Builds the Python parts first, because they take only seconds. */
  async build(jobs: readonly Job[], stopped: AbortSignal): Promise<void> {
    const parts = [...new Set(jobs.flatMap(partsOf))];
    const isQuick = (part: Part) => part.startsWith("python");
    for (const part of [...parts.filter(isQuick), ...parts.filter((part) => !isQuick(part))]) {
      if (stopped.aborted) return;
      const script = join(import.meta.dirname, "build-part.ts");
      const options = { cwd: import.meta.dirname, stdio: ["ignore", "inherit", "inherit"] } as const;
      const { code } = await runGroup([script, part], options, stopped);
      this.#ended.set(part, code === 0 ? "built" : "failed");
    }
  }

  /** The state of the parts that this job needs. */
  stateOf(job: Job): "building" | "built" | "failed" {
    const states = partsOf(job).map((part) => this.#ended.get(part));
    if (states.includes("failed")) return "failed";
    return states.includes(undefined) ? "building" : "built";
  }
}
