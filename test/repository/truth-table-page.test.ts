import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { newestKarpenter } from "../real/engines/build.ts";
import { truthRows } from "../real/truth-table/rows.ts";

const unpadded = (text: string) => text.replaceAll(/ +/g, " ");

it.each(truthRows(newestKarpenter).map((row) => [row.what, row] as const))(
  "the page has the present verdict on: %s",
  (what, row) => {
    const page = unpadded(readFileSync("docs/compare.md", "utf8"));
    expect(page).toContain(`| ${what} | ${row.course === "although held" ? "no" : "**yes**"} |`);
  },
);
