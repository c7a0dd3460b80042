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

/** The part of Vitest's report that is read here. */
type Report = Readonly<{
  success: boolean;
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: readonly Readonly<{ status: string; message: string; assertionResults: readonly Test[] }>[];
}>;
type Test = Readonly<{ status: string; fullName: string; failureMessages?: readonly string[] }>;

/** Reads the report of a suite that ended with this code, after this output. */
export function outcomeOf(report: string, code: number | null, output = ""): Outcome {
  const results = read(report);
  if (!results) return failure("ended before it wrote its report");
  const outcome = {
    passed: results.numPassedTests,
    failed: results.numFailedTests,
    skipped: results.numPendingTests + results.numTodoTests,
    failures: results.testResults.flatMap(failuresOf),
  };
  // A suite whose set-up failed, or whose worker was killed, has failed without a failed test.
  if (outcome.failed > 0 || (code === 0 && results.success)) return outcome;
  const why = `ended with ${code} outside of its tests${errorIn(output)}`;
  return { ...outcome, failed: 1, failures: [...outcome.failures, why] };
}

/** The first error that Vitest printed, and its cause: its report leaves out why the set-up of a group of tests failed. */
function errorIn(output: string): string {
  const printed = stripVTControlCharacters(output);
  const [error, cause] = [/^\w*Error: .*/m, /^Caused by: .*/m].map((line) => printed.match(line)?.[0]);
  return [error, cause].map((line) => (line === undefined ? "" : `: ${line}`)).join("");
}

function failuresOf({ status, message, assertionResults }: Report["testResults"][number]): string[] {
  const ofTests = assertionResults
    .filter((test) => test.status === "failed")
    .map(({ fullName, failureMessages = [] }) => `${fullName}: ${firstLine(failureMessages[0])}`);
  return status === "failed" && message ? [...ofTests, firstLine(message)] : ofTests;
}

const firstLine = (text = ""): string => stripVTControlCharacters(text).trim().split("\n")[0] ?? "";

function read(report: string): Report | undefined {
  try {
    const results = JSON.parse(readFileSync(report, "utf8"));
    return typeof results === "object" && results !== null ? results : undefined;
  } catch {
    return undefined; // it ended before it wrote the report
  }
}
