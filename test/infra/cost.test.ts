import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { costPage } from "../../scripts/cost-page.ts";

it("shows the figures that the script works out", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/cost.md"), "utf8");
  expect(page).toBe(costPage());
});
