import { expect, it } from "vitest";
import { withBlock } from "../../scripts/page-block.ts";

it("refuses a page without both markers of the command", () => {
  const [begin, end] = ["begin", "end"].map((what) => `<!-- ${what}: written by npm run bench -->`);
  expect(withBlock(`a${begin}old${end}z`, "npm run bench", "new")).toBe(`a${begin}\n\nnew\n\n${end}z`);
  for (const page of [`a${begin}old`, `old${end}z`])
    expect(() => withBlock(page, "npm run bench", "new")).toThrow("the page needs the lines");
});
