import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { pageWith, type Result } from "../../lab/bench/page.ts";

const committed = readFileSync("docs/performance.md", "utf8");
const titles = [...committed.matchAll(/^## (.*)$/gm)].map(([, title = ""]) => ({ title }));
const second = titles[1] ?? { title: "" };

const result: Result = {
  bench: { name: "second", seconds: 1, run: async () => ({ figures: [] }), ...second },
  size: "whole",
  circumstances: { machine: "a machine", versions: "some versions", date: "2026-11-30", load: "0.1" },
  figures: [{ what: "a figure", value: "42" }],
};

describe("the page of the benchmarks", () => {
  it("keeps every section whose benchmark was not run, as it is committed", () => {
    expect(titles.length).toBeGreaterThan(5);
    expect(pageWith([], committed, titles)).toBe(committed);
  });

  it("replaces the section that was run, with its own day, versions, machine and load", () => {
    const page = pageWith([result], committed, titles);
    const sectionsOf = (text: string) => text.split(/^(?=## )/m);
    const changed = sectionsOf(page).filter((section, i) => section !== sectionsOf(committed)[i]);
    expect(changed.map((section) => section.trim())).toEqual([
      `## ${second.title}\n\n| What | Measured | Beside it | Goal | Reached |\n| --- | --- | --- | --- | --- |\n| a figure | 42 |  |  |  |\n\n2026-11-30; some versions; a machine; load 0.1.`,
    ]);
  });

  it("says that a quick run is no measurement", () => {
    expect(pageWith([{ ...result, size: "quick" }], committed, titles)).toContain("**No measurement**");
  });
});
