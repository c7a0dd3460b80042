import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const rows = readFileSync("docs/failure-modes.md", "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !/^\| (Failure|---)/.test(line))
  .map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "").trim()));
const headings = readFileSync("docs/runbook.md", "utf8");

describe.each(rows)("failure mode: %s", (_failure, _happens, _heals, _howLong, alarm = "", proof = "") => {
  const links = [...proof.matchAll(/\[([^\]]+)\]\(\.\.\/([^)]+)\)/g)];

  it("is proved by tests that exist", () => {
    expect(links.length).toBeGreaterThan(0);
    for (const [, name = "", file = ""] of links) {
      expect(existsSync(file), `${file} exists`).toBe(true);
      expect(readFileSync(file, "utf8"), file).toContain(name);
    }
  });

  it("names an alarm that the runbook explains, or none", () => {
    const [, heading] = /#([^)]+)\)/.exec(alarm) ?? [];
    if (heading === undefined) expect(alarm).toBe("–");
    else expect(headings).toContain(`\n## ${heading}\n`);
  });
});

it("knows many failure modes", () => {
  expect(rows.length).toBeGreaterThan(25);
});
