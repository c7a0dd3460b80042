import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { AlarmSignals } from "./alarm-signals.ts";

const [, table = ""] = readFileSync("docs/operating.md", "utf8").split("\n## What can fail\n");
const rows = table
  .split("\n")
  .filter((line) => /^\| (?!Failure|---)/.test(line))
  .map((line) => line.split(" | "));
const linked = (cell: string | undefined): readonly string[] =>
  [...(cell ?? "").matchAll(/\]\(([^)]+)\)/g)].map(([, target = ""]) => target);

it("every alarm of the stack is named by a failure that sets it off, and no other alarm", () => {
  const named = rows.flatMap(([, , , , alarms]) => linked(alarms)).map((target) => target.slice(1));
  expect(new Set(named)).toEqual(new Set(new AlarmSignals().headings));
});

it("every failure is played by a test, and the page names every file of faults", () => {
  for (const row of rows) expect(linked(row.at(-1)), row[0]).not.toEqual([]);
  const played = [...globSync("test/real/faults/of-*.ts"), "test/real/deployed/failures.ts"];
  for (const file of played) expect(table).toContain(`(../${file})`);
});
