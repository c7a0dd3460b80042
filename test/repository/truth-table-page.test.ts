import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { newestKarpenter } from "../real/engines/build.ts";
import { truthTable } from "../real/truth-table/page.ts";
import { truthRows } from "../real/truth-table/rows.ts";

const unpadded = (text: string) => text.replaceAll(/ +/g, " ");

it.each(truthRows(newestKarpenter).map((row) => [row.what, row] as const))(
  "the page has the present verdict on: %s",
  (what, row) => {
    const page = unpadded(readFileSync("docs/compare.md", "utf8"));
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
  const newest = { karpenter: "1.2.3", date: "2026-01-02" };
  const oldest = { karpenter: "1.0.0", date: "2026-01-03" };

  const page = unpadded(
    truthTable({
      newest: { ...newest, rows: [row] },
      oldest: { ...oldest, rows: [{ ...row, blocked: true }] },
    }),
  );
  const alike = truthTable({ newest: { ...newest, rows: [row] }, oldest: { ...oldest, rows: [row] } });
  const without = truthTable({ newest: { ...newest, rows: [row] }, oldest: { ...oldest, rows: [] } });

  expect(page).toContain("| Drift | no | 60 s | 5 s |");
  expect(page).toContain("Karpenter 1.2.3 with its kwok provider, 2026-01-02:");
  expect(page).toContain("| Row | 1.0.0 | 1.2.3 |");
  expect(page).toContain("| Drift | **yes** | no |");
  expect(alike).toContain("Karpenter 1.0.0, 2026-01-03: every verdict is the same.");
  expect(without).toContain("It cannot show: Drift.");
});
