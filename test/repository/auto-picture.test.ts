import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { autoPicture } from "../../scripts/auto-picture.ts";

it("the picture of hold=auto is what npm run docs:auto draws from the rule", () => {
  expect(readFileSync("docs/images/auto.svg", "utf8")).toBe(`${autoPicture()}\n`);
});
