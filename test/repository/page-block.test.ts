import { expect, it } from "vitest";
import { withBlock } from "../../scripts/page-block.ts";

const page = `# A page

<!-- begin: written by npm run bench -->
old
<!-- end: written by npm run bench -->

Prose.
<!-- begin: written by npm run lab -->
other
<!-- end: written by npm run lab -->
`;

it("replaces what stands between a command's two markers, and nothing else", () => {
  expect(withBlock(page, "npm run bench", "new")).toBe(page.replace("old", "\nnew\n"));
  expect(withBlock(withBlock(page, "npm run bench", "new"), "npm run bench", "old")).toBe(
    page.replace("old", "\nold\n"),
  );
});

it("refuses a page without them", () => {
  expect(() => withBlock(page, "npm run other", "new")).toThrow("the page needs the lines");
  expect(() => withBlock(page.replaceAll("end:", "END:"), "npm run bench", "new")).toThrow("the page needs");
});
