import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { checksOf, listLines, wholeList } from "../../lab/smoke/list.ts";
import { judged, type Row } from "../../lab/smoke/smoke.ts";

const names = wholeList([]).map(({ assumption }) => assumption);
const verdictsOf = (rows: readonly Row[]) =>
  Object.fromEntries(rows.map(({ assumption, verdict }) => [assumption, verdict]));

it("the list of smoke names each check of a run", () => {
  const checks = [false, true].flatMap((hasLedger) => Object.values(checksOf(hasLedger)).flat());
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(expect.arrayContaining(checks.map(({ assumption }) => assumption)));
});

it("the list of smoke names what the documents call untried on a real account", () => {
  const paragraphs = ["README.md", ...globSync("docs/*.md")].flatMap((page) =>
    readFileSync(page, "utf8")
      .split("\n")
      .filter((line) => /(not|none of this was) (tried|proven) on a real account/i.test(line)),
  );
  const subjects = names.map((name) => name.split(":")[0] ?? "");
  expect(paragraphs.length).toBeGreaterThan(2);
  expect(paragraphs.filter((text) => !subjects.some((subject) => text.includes(subject)))).toEqual([]);
});

it("a run prints the whole list, also what a broken check has kept it from", () => {
  const first = { assumption: "the cluster can have a holder", expected: "", ...judged(false, "none") };
  const rows = wholeList([first]);
  expect(rows.map(({ assumption }) => assumption)).toEqual(names);
  expect(rows.filter(({ verdict }) => verdict !== "open")).toMatchObject([
    { verdict: "broken", seen: "none" },
  ]);
  expect(rows.find(({ assumption }) => assumption === "a launch starts a hold")?.seen).toBe(
    "not looked at: a run without --ledger does",
  );
});

it("what a setting shows has the verdict of the links of a run with it", () => {
  const links = { assumption: "every link works", expected: "", ...judged(true, "none is broken") };
  const verdicts = verdictsOf(wholeList([links], ["rolePath=/a/"]));
  const open = Object.entries(verdicts).filter(([name, verdict]) => name.includes(":") && verdict === "open");
  expect(open.map(([name]) => name.split(":")[0])).toEqual([
    ...["key", "vpc", "vpc", "cluster-access", "EKS Auto Mode", "alarms"],
    ...["Slack or Microsoft Teams", "updates"],
  ]);
});

it("the help says of each what looks at it", () => {
  expect(listLines().filter((line) => line.endsWith("not looked at"))).toHaveLength(5);
});
