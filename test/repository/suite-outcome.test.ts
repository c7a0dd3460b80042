import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { outcomeOf, sum } from "../real/runner/outcome.ts";
import { newFolder } from "../support/new-folder.ts";

describe("the outcome of a suite", () => {
  const passing = {
    ...{ success: true, numPassedTests: 2, numFailedTests: 0, numPendingTests: 1, numTodoTests: 0 },
    testResults: [{ status: "passed", message: "", assertionResults: [{ status: "passed" }] }],
  };
  const failing = (file: object) => {
    const testResults = [{ status: "failed", message: "", assertionResults: [], ...file }];
    return written(JSON.stringify({ ...passing, success: false, testResults }));
  };
  const broken = { status: "failed", fullName: "held", failureMessages: ["\u001b[31mError: gone\n at x"] };

  it("is what its report counts", () => {
    const outcome = { passed: 2, failed: 0, skipped: 1, failures: [] };
    expect(outcomeOf(written(JSON.stringify(passing)), 0)).toEqual(outcome);
    expect(sum(outcome, outcome)).toEqual({ ...outcome, passed: 4, skipped: 2 });
  });

  it.each([
    [
      "each test that failed",
      failing({ assertionResults: [broken, { status: "passed" }] }),
      "held: Error: gone",
    ],
    ["why the set-up failed, though no test was run", failing({ message: "no etcd\nat x" }), "no etcd"],
  ])("names %s, with the first line of why", (_, report, why) => {
    const { failed, failures } = outcomeOf(report, 1);
    expect([failed, failures[0]]).toEqual([1, why]);
  });

  it("has failed where all tests passed and the suite did not, with the error that it printed, and its cause", () => {
    const printed = "FAIL faults.suite.ts > faults\n\u001b[31mError\u001b[39m: etcd ended with 1\nmore\n";
    const output = `${printed}\u001b[31mCaused by: \u001b[39mError: no room\n`;
    expect(outcomeOf(written(JSON.stringify(passing)), null, output)).toMatchObject({
      passed: 2,
      failed: 1,
      failures: ["ended with null outside of its tests: Error: etcd ended with 1: Caused by: Error: no room"],
    });
  });

  it.each([undefined, "", "{", "null", '"all well"'])("has failed where the report is %s", (text) => {
    expect(outcomeOf(written(text), 0)).toMatchObject({ passed: 0, failed: 1 });
  });

  function written(text: string | undefined): string {
    const file = join(newFolder(), "report.json");
    if (text !== undefined) writeFileSync(file, text);
    return file;
  }
});
