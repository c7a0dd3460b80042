import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { truthTablePage } from "../real/truth-table/page.ts";
import { rows } from "../real/truth-table/rows.ts";

const unpadded = (text: string) => text.replaceAll(/ +/g, " ");

it.each(rows.map((row) => [row.what, row] as const))(
  "the page has the present verdict on: %s",
  (what, row) => {
    const page = unpadded(readFileSync("docs/what-a-hold-blocks.md", "utf8"));
    expect(page).toContain(`| ${what} | ${row.course === "although held" ? "no" : "**yes**"} |`);
  },
);

it("reports every outcome, also an unexpected one", () => {
  const row = {
    what: "Drift",
    course: "after the hold",
    blocked: false,
    heldSeconds: 60,
    goneSeconds: 5,
  } as const;

  const newest = { karpenter: "1.2.3", date: "2026-01-02", rows: [row] };
  const oldest = { karpenter: "1.0.0", date: "2026-01-03", rows: [{ ...row, blocked: true }] };

  const page = unpadded(truthTablePage(newest, oldest));
  const alike = truthTablePage(newest, { ...oldest, rows: [row] });

  expect(page).toContain("| Drift | no | 60 s | 5 s |");
  expect(page).toContain("Karpenter 1.2.3 with its kwok provider, 2026-01-02.");
  expect(page).toContain("| Held back | 1.0.0 | 1.2.3 |");
  expect(page).toContain("| Drift | **yes** | no |");
  expect(alike).toContain("on the oldest version tried, 2026-01-03: every verdict is the same.");
});
