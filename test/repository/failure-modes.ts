import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** One row of docs/failure-modes.md: the alarms it names by their headings, and the tests that prove it. */
export type FailureMode = Readonly<{
  failure: string;
  alarms: readonly string[];
  /** What stands in the column of alarms when it names none. */
  alarmCell: string;
  proofs: readonly Readonly<{ name: string; file: string }>[];
}>;

/** The whole table. */
export const failureModes: readonly FailureMode[] = readFileSync(join(root, "docs/failure-modes.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !/^\| (Failure|---)/.test(line))
  .map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "").trim()))
  .map(([failure = "", _happens, _heals, _howLong, alarmCell = "", proof = ""]) => ({
    failure,
    alarmCell,
    alarms: [...alarmCell.matchAll(/\]\(runbook\.md#([a-z-]+)\)/g)].map(([, heading = ""]) => heading),
    proofs: [...proof.matchAll(/\[([^\]]+)\]\(\.\.\/([^)]+)\)/g)].map(([, name = "", file = ""]) => ({
      name,
      file,
    })),
  }));
