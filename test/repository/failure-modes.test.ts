import { existsSync, globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { AlarmSignals } from "./alarm-signals.ts";
import { failureModes } from "./failure-modes.ts";

const alarmed = new AlarmSignals().headings;
const faults = globSync("test/real/faults/of-*.ts");

/** The sentences by which a file's tests are known: a call's first words, before the function that is the test. */
const titlesIn = (file: string): readonly string[] =>
  [...readFileSync(file, "utf8").matchAll(/\(\s*(["`])(.+?)\1,\s*(?:\{[^}]*\},\s*)?(?:async )?\(/g)].map(
    ([, , title = ""]) => title,
  );

describe.each(failureModes)("failure mode: $failure", ({ alarms, alarmCell, proofs }) => {
  it("is proved by tests that exist", () => {
    expect(proofs.length).toBeGreaterThan(0);
    for (const { name, file } of proofs) {
      expect(existsSync(file), `${file} exists`).toBe(true);
      expect(titlesIn(file), file).toContainEqual(expect.stringContaining(name));
    }
  });

  it("names alarms that the stack has, or none", () => {
    if (alarms.length === 0) expect(alarmCell).toBe("–");
    for (const heading of alarms) expect(alarmed).toContain(heading);
  });
});

it("knows every alarm of the stack by a failure that rings it", () => {
  expect(new Set(failureModes.flatMap(({ alarms }) => alarms))).toEqual(new Set(alarmed));
});

it("reports every fault that is tried on the real engines, once", () => {
  const reported = failureModes.flatMap(({ proofs }) => proofs.filter(({ file }) => faults.includes(file)));
  const tried = faults.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/\bit\(\s*"(.+?)",/gs)].map(([, title]) => title),
  );
  expect(reported.map(({ name }) => name).toSorted()).toEqual(tried.toSorted());
});

it("reports every failure that is played on the deployed stack", () => {
  const files = ["test/real/deployed/failures.ts", "test/real/deployed/alarms.ts"];
  const reported = failureModes.flatMap(({ proofs }) => proofs.map(({ name }) => name));
  // On a good day nothing fails.
  const isFailure = (file: string, title: string) => !file.includes("alarms") || title.startsWith("when ");
  const isGroup = (file: string, title: string) => readFileSync(file, "utf8").includes(`describe("${title}"`);
  const played = files.flatMap((file) =>
    titlesIn(file).filter((title) => isFailure(file, title) && !isGroup(file, title)),
  );
  expect(played.length).toBeGreaterThan(10);
  expect(played.filter((title) => !reported.includes(title))).toEqual([]);
});

it("knows many failure modes", () => {
  expect(failureModes.length).toBeGreaterThan(25);
});
