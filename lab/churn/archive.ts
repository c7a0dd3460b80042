import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import type { ArmRecord } from "./run-arm.ts";

/** A record with the machine that it was made on. */
export type Archived = Readonly<{ record: ArmRecord; machine: string; load: number; karpenter: string }>;

/** The machine in words. */
export const machine = (): string =>
  `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB`;

/** Records of arms in a folder, so that the page can be written again without running them. */
export class Archive {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  write(record: ArmRecord, karpenter: string): void {
    mkdirSync(this.#folder, { recursive: true });
    const [, load = 0] = loadavg();
    const archived: Archived = { record, machine: machine(), load, karpenter };
    const { trace, arm, seed } = record;
    writeFileSync(join(this.#folder, `${trace}.${arm}.${seed}.json`), JSON.stringify(archived));
  }

  /** Every record, by trace, arm and seed. */
  all(): readonly Archived[] {
    if (!existsSync(this.#folder)) return [];
    const files = readdirSync(this.#folder).filter((name) => name.endsWith(".json"));
    return files.toSorted().map((file) => readArchived(readFileSync(join(this.#folder, file), "utf8")));
  }
}

const readArchived = (text: string): Archived =>
  JSON.parse(text, (key, value) => (["at", "from", "to", "until"].includes(key) ? new Date(value) : value));
