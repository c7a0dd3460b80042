import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { costsBlock, costsOf, inWords, totalOf } from "../../scripts/costs.ts";
import { withBlock } from "../../scripts/page-block.ts";

it("is what npm run docs:costs writes, and every page names the same sum", () => {
  const page = readFileSync("docs/deploying.md", "utf8");
  expect(page).toBe(withBlock(page, "npm run docs:costs", costsBlock()));
  for (const file of ["docs/deploying.md", "docs/compare.md", "README.md"])
    expect(readFileSync(file, "utf8")).toContain(inWords());
});

it("costs more with more launches and pods, but looks at tens of thousands of pods less often", () => {
  const of = (launchesADay: number, pods: number) =>
    costsOf({ launchesADay, nodes: 10, pods, looksAMinute: 1 });
  expect(totalOf(of(200, 100))).toBeGreaterThan(totalOf(of(20, 100)));
  expect(of(20, 9_000).looks).toBeGreaterThan(of(20, 100).looks);
  expect(of(20, 50_000).looks).toBeLessThan(5 * of(20, 10_000).looks);
  expect(of(20, 10_000).nat / of(20, 100).nat).toBeCloseTo(100);
});

it("counts the second look of each minute in which nodes are due", () => {
  const of = (looksAMinute: 1 | 2) => costsOf({ launchesADay: 0, nodes: 10, pods: 5_000, looksAMinute });
  expect(of(2).nat / of(1).nat).toBeCloseTo((2 * 5 + 1) / (5 + 1));
});
