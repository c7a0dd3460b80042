import { readFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

/** The results of some tests, and a line for each failed test. */
export type Outcome = Readonly<{
  passed: number;
  failed: number;
  skipped: number;
  failures: readonly string[];
}>;

export const noTests: Outcome = { passed: 0, failed: 0, skipped: 0, failures: [] };

export const failure = (why: string): Outcome => ({ ...noTests, failed: 1, failures: [why] });

export const sum = (one: Outcome, other: Outcome): Outcome => ({
  passed: one.passed + other.passed,
  failed: one.failed + other.failed,
  skipped: one.skipped + other.skipped,
  failures: [...one.failures, ...other.failures],
});

/** Reads Vitest's report of a suite that ended with this code, after this output. */
export function outcomeOf(report: string, code: number | null, output = ""): Outcome {
  const results = read(report);
  if (typeof results !== "object" || results === null) return failure("ended before it wrote its report");
  const count = (name: string) => Number(get(results, name));
  const failed = count("numFailedTests");
  const outcome = {
    passed: count("numPassedTests"),
    failed,
    skipped: count("numPendingTests") + count("numTodoTests"),
    failures: list(results, "testResults").flatMap(failuresOf),
  };
  // A suite whose set-up failed, or whose worker was killed, has failed without a failed test.
  const failedOutside = failed === 0 && (code !== 0 || get(results, "success") !== true);
  if (!failedOutside) return outcome;
  return {
    ...outcome,
    failed: 1,
    failures: [...outcome.failures, `ended with ${code} outside of its tests${errorIn(output)}`],
  };
}

/** The first error that Vitest printed: its report leaves out why the set-up of a group of tests failed. */
function errorIn(output: string): string {
  const error = stripVTControlCharacters(output).match(/^\w*Error: .*/m)?.[0];
  return error === undefined ? "" : `: ${error}`;
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
    return undefined; // it ended before it wrote the report
  }
}
