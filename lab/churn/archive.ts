import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Arm, ArmRecord } from "./arm.ts";

/** How the arms that lie side by side were run. */
export type Conditions = Readonly<{
  seed: number;
  minutes: number;
  /** A told minute in real milliseconds. */
  minute: number;
  hold: number;
  jobs: number;
}>;

export type Archived = Readonly<{ conditions: Conditions; ranAt: Date; busy: number; record: ArmRecord }>;

/** Records of arms in a folder, so that they can be drawn again without being run again. */
export class Archive {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  keep(archived: Archived): void {
    mkdirSync(this.#folder, { recursive: true });
    writeFileSync(this.#fileOf(archived.record.arm), JSON.stringify(archived));
  }

  /** The last record of an arm; undefined when it has never been run for this archive. */
  recall(arm: Arm): Archived | undefined {
    const file = this.#fileOf(arm);
    if (!existsSync(file)) return undefined;
    return JSON.parse(readFileSync(file, "utf8"), (key, value) => (isMoment(key) ? new Date(value) : value));
  }

  #fileOf(arm: Arm): string {
    return join(this.#folder, `${arm}.json`);
  }
}

const isMoment = (key: string): boolean => ["at", "from", "to", "until", "ranAt"].includes(key);
