import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { noTests, outcomeOf, sum } from "../real/runner/outcome.ts";
import { newFolder } from "../support/new-folder.ts";

const folder = newFolder();

describe("the outcome of a suite", () => {
  const passing = {
    success: true,
    numPassedTests: 2,
    numFailedTests: 0,
    numPendingTests: 1,
    numTodoTests: 0,
    testResults: [
      { status: "passed", message: "", assertionResults: [{ status: "passed", fullName: "holds" }] },
    ],
  };

  it("is what its report counts", () => {
    expect(outcomeOf(report(passing), 0)).toEqual({ passed: 2, failed: 0, skipped: 1, failures: [] });
  });

  it("names each test that failed, with the first line of why", () => {
    const broken = {
      status: "failed",
      fullName: "nodes are held",
      failureMessages: ["\u001b[31mError: gone\n  at x"],
    };
    const reported = {
      ...passing,
      success: false,
      numFailedTests: 1,
      testResults: [{ status: "failed", message: "", assertionResults: [broken, { status: "passed" }] }],
    };

    expect(outcomeOf(report(reported), 1)).toMatchObject({
      failed: 1,
      failures: ["nodes are held: Error: gone"],
    });
  });

  it("has failed where the set-up failed and no test was run", () => {
    const reported = {
      ...passing,
      success: false,
      testResults: [{ status: "failed", message: "no etcd\nat x", assertionResults: [] }],
    };

    const { failed, failures } = outcomeOf(report(reported), 1);

    expect(failed).toBe(1);
    expect(failures[0]).toBe("no etcd");
  });

  it("has failed where all tests passed and the suite did not", () => {
    expect(outcomeOf(report(passing), null)).toMatchObject({ passed: 2, failed: 1 });
  });

  it("names the error that a set-up printed, which the report leaves out", () => {
    const output = "FAIL faults.suite.ts > faults\n\u001b[31mError\u001b[39m: etcd ended with 1\nmore\n";

    expect(outcomeOf(report({ ...passing, success: false }), 1, output).failures).toEqual([
      "ended with 1 outside of its tests: Error: etcd ended with 1",
    ]);
  });

  it.each([undefined, "", "{", "null", '"all well"'])("has failed where the report is %s", (text) => {
    expect(outcomeOf(written(text), 0)).toMatchObject({ passed: 0, failed: 1 });
  });

  it("adds up", () => {
    const one = { passed: 1, failed: 1, skipped: 0, failures: ["one"] };
    const other = { passed: 2, failed: 1, skipped: 3, failures: ["other"] };

    expect([one, other].reduce(sum, noTests)).toEqual({
      passed: 3,
      failed: 2,
      skipped: 3,
      failures: ["one", "other"],
    });
  });

  const report = (reported: object) => written(JSON.stringify(reported));

  function written(text: string | undefined): string {
    const file = join(folder, "report.json");
    rmSync(file, { force: true });
    if (text !== undefined) writeFileSync(file, text);
    return file;
  }
});
