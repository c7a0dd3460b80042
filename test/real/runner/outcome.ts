import { readFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

/** What came of some tests, and a line for each that failed. */
export type Outcome = Readonly<{
  passed: number;
  failed: number;
  skipped: number;
  failures: readonly string[];
}>;

export const nothingYet: Outcome = { passed: 0, failed: 0, skipped: 0, failures: [] };

export const failure = (why: string): Outcome => ({ ...nothingYet, failed: 1, failures: [why] });

export const sum = (one: Outcome, other: Outcome): Outcome => ({
  passed: one.passed + other.passed,
  failed: one.failed + other.failed,
  skipped: one.skipped + other.skipped,
  failures: [...one.failures, ...other.failures],
});

/** Reads what Vitest told of a suite that ended with this code. */
export function outcomeOf(report: string, code: number | null): Outcome {
  const told = read(report);
  if (typeof told !== "object" || told === null)
    return failure("ended before it told what came of its tests");
  const count = (name: string) => Number(get(told, name));
  const failed = count("numFailedTests");
  const outcome = {
    passed: count("numPassedTests"),
    failed,
    skipped: count("numPendingTests") + count("numTodoTests"),
    failures: list(told, "testResults").flatMap(failuresOf),
  };
  // A suite whose set-up failed, or whose worker was killed, has no failed test, yet it has failed.
  const isSilent = failed === 0 && (code !== 0 || get(told, "success") !== true);
  if (!isSilent) return outcome;
  return {
    ...outcome,
    failed: 1,
    failures: [...outcome.failures, `ended with ${code}, outside of its tests`],
  };
}

function failuresOf(file: unknown): string[] {
  const tests = list(file, "assertionResults").filter((test) => get(test, "status") === "failed");
  const ofTests = tests.map(
    (test) => `${get(test, "fullName")}: ${firstLine(list(test, "failureMessages")[0])}`,
  );
  const ofSetUp =
    get(file, "status") === "failed" && get(file, "message") ? [firstLine(get(file, "message"))] : [];
  return [...ofTests, ...ofSetUp];
}

const firstLine = (text: unknown): string =>
  stripVTControlCharacters(String(text)).trim().split("\n")[0] ?? "";

const get = (from: unknown, name: string): unknown =>
  typeof from === "object" && from !== null ? Reflect.get(from, name) : undefined;

function list(from: unknown, name: string): readonly unknown[] {
  const found = get(from, name);
  return Array.isArray(found) ? found : [];
}

function read(report: string): unknown {
  try {
    return JSON.parse(readFileSync(report, "utf8"));
  } catch {
    return undefined; // it was ended before it could write
  }
}
