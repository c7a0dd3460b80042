import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { resourcesOf, synthesize } from "../infra/synthesized.ts";

const [, table = ""] = readFileSync("docs/operating.md", "utf8").split("\n## What can fail\n");
const rows = table
  .split("\n")
  .filter((line) => /^\| (?!Failure|---)/.test(line))
  .map((line) => line.split(" | "));
const linked = (cell: string | undefined): readonly string[] =>
  [...(cell ?? "").matchAll(/\]\(([^)]+)\)/g)].map(([, target = ""]) => target);

it("every alarm of the stack is named by a failure that sets it off, and no other alarm", () => {
  const alarms = [...resourcesOf(synthesize(), "AWS::CloudWatch::Alarm").values()];
  const headings = alarms.map(({ Properties }) => /#[a-z-]+$/.exec(String(Properties.AlarmDescription))?.[0]);
  expect(new Set(rows.flatMap(([, , , , named]) => linked(named)))).toEqual(new Set(headings));
});

it("every failure is played by a test", () => {
  for (const row of rows) expect(linked(row.at(-1)), row[0]).not.toEqual([]);
});
