import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildFolder } from "../../test/real/build.ts";
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

const folder = join(buildFolder, "churn");
const fileOf = (arm: Arm) => join(folder, `${arm}.json`);

/** Keeps an arm's record, so that it can be drawn again without being run again. */
export function keep(archived: Archived): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(fileOf(archived.record.arm), JSON.stringify(archived));
}

/** The last record of an arm; undefined when it has never been run here. */
export function recall(arm: Arm): Archived | undefined {
  const file = fileOf(arm);
  if (!existsSync(file)) return undefined;
  return JSON.parse(readFileSync(file, "utf8"), (key, value) => (isMoment(key) ? new Date(value) : value));
}

const isMoment = (key: string): boolean => ["at", "from", "to", "until", "ranAt"].includes(key);
