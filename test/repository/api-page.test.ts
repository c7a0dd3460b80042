import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { apiBlock } from "../../scripts/api-page.ts";
import { withBlock } from "../../scripts/page-block.ts";

it("is what npm run docs:api writes from the sources", () => {
  const page = readFileSync("docs/api.md", "utf8");
  expect(page).toBe(withBlock(page, "npm run docs:api", apiBlock()));
});
