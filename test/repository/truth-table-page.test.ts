import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { newestKarpenter } from "../real/engines/build.ts";
import { truthTable } from "../real/truth-table/page.ts";
import { truthRows } from "../real/truth-table/rows.ts";

const unpadded = (text: string) => text.replaceAll(/ +/g, " ");

it.each(truthRows(newestKarpenter).map((row) => [row.what, row] as const))(
  "the page has the present verdict on: %s",
  (what, row) => {
    const page = unpadded(
    truthTable({ newest: { ...newest, rows: [row] }, oldest: { ...oldest, rows: [{ ...row, blocked: true }] } }),
  );
  const alike = truthTable({ newest: { ...newest, rows: [row] }, oldest: { ...oldest, rows: [row] } });

  expect(page).toContain("| Drift | no | 60 s | 5 s |");
  expect(page).toContain("Karpenter 1.2.3 with its kwok provider, 2026-01-02:");
  expect(page).toContain("| Row | 1.0.0 | 1.2.3 |");
  expect(page).toContain("| Drift | **yes** | no |");
  expect(alike).toContain("Karpenter 1.0.0, 2026-01-03: every verdict is the same.");
});
