import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { apiBlock } from "../../scripts/api-page.ts";
import { autoPicture } from "../../scripts/auto-picture.ts";
import { costsBlock, inWords } from "../../scripts/costs.ts";
import { holdPicture } from "../../scripts/hold-picture.ts";
import { withBlock } from "../../scripts/page-block.ts";
import { newestKarpenter } from "../real/engines/build.ts";
import { truthRows } from "../real/truth-table/rows.ts";

const read = (file: string) => readFileSync(file, "utf8");

it.each([
  ["docs/api.md", "npm run docs:api", apiBlock],
  ["docs/deploying.md", "npm run docs:costs", costsBlock],
] as const)("%s has what %s writes", (file, command, block) => {
  expect(read(file)).toBe(withBlock(read(file), command, block()));
});

it("every page names the same sum of costs", () => {
  for (const file of ["docs/deploying.md", "docs/compare.md", "README.md"])
    expect(read(file)).toContain(inWords());
});

it("the picture of hold=auto is what npm run docs:auto draws from the rule", () => {
  expect(read("docs/images/auto.svg")).toBe(`${autoPicture()}\n`);
});

it("the picture of a hold is what npm run docs:hold draws of the story", async () => {
  expect(read("docs/images/hold.svg")).toBe(`${await holdPicture()}\n`);
});

it.each(truthRows(newestKarpenter).map((row) => [row.what, row] as const))(
  "the page has the present verdict on: %s",
  (what, { course }) => {
    const page = read("docs/compare.md").replaceAll(/ +/g, " ");
    expect(page).toContain(`| ${what} | ${course === "although held" ? "no" : "**yes**"} |`);
  },
);

it("a page without both markers of the command is refused", () => {
  const [begin, end] = ["begin", "end"].map((what) => `<!-- ${what}: written by npm run bench -->`);
  expect(withBlock(`a${begin}old${end}z`, "npm run bench", "new")).toBe(`a${begin}\n\nnew\n\n${end}z`);
  for (const page of [`a${begin}old`, `old${end}z`])
    expect(() => withBlock(page, "npm run bench", "new")).toThrow("the page needs the lines");
});
