import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { newestKarpenter } from "../real/engines/build.ts";
import { launchRows } from "../real/truth-table/launch-rows.ts";
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

it.each(launchRows(newestKarpenter).map((row) => [row.what, row] as const))(
  "the page has what the holder takes a launch for: %s",
  (what, { kind, reason, used }) => {
    const page = unpadded(readFileSync("docs/compare.md", "utf8"));
    expect(page).toContain(`| ${what} | ${reason ?? "no event"} | ${kind} | ${used ? "yes" : "never"} |`);
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
  const launch = { what: "Roll", kinds: ["demand", "replacement"], reasons: ["Drifted"], used: true };
  const waiting = { what: "Pods", kinds: ["demand"], reasons: [], used: false };
  const newest = { karpenter: "1.2.3", date: "2026-01-02" };
  const oldest = { karpenter: "1.0.0", date: "2026-01-03" };

  const page = unpadded(
    truthTable(
      { newest: { ...newest, rows: [row] }, oldest: { ...oldest, rows: [{ ...row, blocked: true }] } },
      {
        newest: { ...newest, rows: [launch, waiting] },
        oldest: { ...oldest, rows: [{ ...launch, kinds: ["demand"] }] },
      },
    ),
  );
  const alike = truthTable(
    { newest: { ...newest, rows: [row] }, oldest: { ...oldest, rows: [row] } },
    { newest: { ...newest, rows: [launch] }, oldest: { ...oldest, rows: [launch] } },
  );

  expect(page).toContain("| Drift | no | 60 s | 5 s |");
  expect(page).toContain("Karpenter 1.2.3 with its kwok provider, 2026-01-02:");
  expect(page).toContain("| Row | 1.0.0 | 1.2.3 |");
  expect(page).toContain("| Drift | **yes** | no |");
  expect(alike).toContain("Karpenter 1.0.0, 2026-01-03: every verdict is the same.");

  expect(page).toContain("| Roll | Drifted | demand, replacement | yes |");
  expect(page).toContain("| Pods | no event | demand | never |");
  expect(page).toContain("Karpenter 1.0.0, 2026-01-03: these verdicts differ. It cannot show: Pods.");
  expect(page).toContain("| Roll | Drifted: demand | Drifted: demand, replacement |");
});
