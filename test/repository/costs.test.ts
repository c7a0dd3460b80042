import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { costsBlock, inWords } from "../../scripts/costs.ts";
import { withBlock } from "../../scripts/page-block.ts";

it("is what npm run docs:costs writes, and every page names the same sum", () => {
  const page = readFileSync("docs/deploying.md", "utf8");
  expect(page).toBe(withBlock(page, "npm run docs:costs", costsBlock()));
  for (const file of ["docs/deploying.md", "docs/compare.md", "README.md"])
    expect(readFileSync(file, "utf8")).toContain(inWords());
});
