import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cheapestOwn, compare } from "../../../lab/days/page/compare.ts";
import { groupsOf } from "../../../lab/days/page/groups.ts";
import { placeLabels, type Stroke } from "../../../lab/days/page/labels.ts";
import { blockOf, writePage } from "../../../lab/days/page/page.ts";
import { drawGroups } from "../../../lab/days/page/picture.ts";
import { summaryOf } from "../../../lab/days/page/summary.ts";
import { tableOf } from "../../../lab/days/page/table.ts";
import { verdictOf } from "../../../lab/days/page/verdict.ts";
import type { RunResult } from "../../../lab/days/result.ts";
import { elementsIn } from "../../report/markup.ts";
import { newFolder } from "../../support/new-folder.ts";
import { aRun } from "./a-run.ts";

const usual = { launch: 5, eviction: 3 };

/** Runs of an arm whose nodes cost so many minutes, one for each seed. */
const runsOf = (arm: string, ...minutes: readonly number[]): readonly RunResult[] =>
  minutes.map((nodes, i) => aRun({ arm, seed: i + 1, price: 0.0064 * nodes, launched: 0, evicted: 0 }));

const ratioOf = (ours: readonly number[], theirs: readonly number[]) =>
  compare({ arm: "a", runs: runsOf("a", ...ours) }, { arm: "b", runs: runsOf("b", ...theirs) }, usual);

describe("a comparison of two arms", () => {
  it("is a difference only where it is larger than the spread between seeds", () => {
    expect(ratioOf([900, 910, 890], [1_000, 1_000, 1_000])).toMatchObject({ ratio: 0.9, verdict: "less" });
    expect(ratioOf([1_100, 1_110, 1_090], [1_000, 1_000, 1_000])).toMatchObject({ verdict: "more" });
    expect(ratioOf([700, 1_100, 900], [1_000, 1_000, 1_000])).toMatchObject({ verdict: "no difference" });
  });

  it("is none where chance makes one as large, though the seeds happen to agree", () => {
    expect(ratioOf([975, 975, 975], [1_000, 1_000, 1_000])).toMatchObject({
      ...{ spread: 0, verdict: "no difference" },
    });
    expect(ratioOf([970, 970, 970], [1_000, 1_000, 1_000])).toMatchObject({ verdict: "less" });
    expect(ratioOf([970, 970], [1_000, 1_000])).toMatchObject({ verdict: "no difference" });
    expect(ratioOf([1_040, 1_040], [1_000, 1_000])).toMatchObject({ verdict: "more" });
  });

  it("with one seed takes less than a twentieth for no difference", () => {
    expect(ratioOf([960], [1_000])).toMatchObject({ verdict: "no difference" });
    expect(ratioOf([940], [1_000])).toMatchObject({ verdict: "less" });
  });

  it("is made on the seeds that both have run", () => {
    expect(ratioOf([900, 500], [1_000])?.ratio).toBe(0.9);
    expect(ratioOf([], [1_000])).toBeUndefined();
  });

  it("is no difference where nothing runs", () => {
    expect(ratioOf([0, 0], [0, 0])).toEqual({ ratio: 1, spread: 0, seeds: 2, verdict: "no difference" });
  });
});

const results = [
  ...runsOf("consolidate-after-5m", 1_200, 1_220),
  ...runsOf("budget-hourly", 1_000, 1_020),
  ...runsOf("hold-20m", 1_300, 1_320),
  ...runsOf("auto", 900, 920),
  // Cheap, but on one seed alone.
  ...runsOf("consolidate-after-0s", 10),
];

describe("the verdict", () => {
  const [words = "", best = "", table = "", killed = ""] = verdictOf(groupsOf(results));

  it("names what each arm of the holder costs against the best of Karpenter's own, the cheapest first", () => {
    const [first, second] = words.split("\n");
    expect(first).toContain("`auto` costs 0.90 times the best of Karpenter's own settings");
    expect(first).toContain("less in 1, more in 0, no difference in 0 of 1 comparisons.");
    expect(second).toContain("`hold-20m` costs 1.30 times");
    expect(second).toContain("at worst 1.30 times (`day`, `one`, Karpenter 1.15.0)");
    expect(best).toContain("`budget-hourly` in 1 of 1 comparisons");
    expect(table).toContain("| `budget-hourly`");
    expect(table).toContain("**0.90 ± 0.00**; 0.90");
  });

  it("is made on fewer seeds where each arm of Karpenter's own settings has a run that failed", () => {
    const some = groupsOf([...runsOf("budget-hourly", 1_000, 900), ...runsOf("auto", 900, 810, 2_000)]);
    expect(verdictOf(some)[0]).toContain("`auto` costs 0.90 times the best of Karpenter's own settings");
    expect(summaryOf(some)).toMatch(/hold=auto.* 0\.90 \|/);
  });

  it("calls the spread of one seed assumed, and that of several not", () => {
    expect(table).toContain("**0.90 ± 0.00**; 0.90");
    const ofOne = groupsOf([...runsOf("budget-hourly", 1_000), ...runsOf("auto", 900)]);
    expect(verdictOf(ofOne)[2]).toContain("**0.90 ± 0.05 assumed**; 0.90");
  });

  it("takes for the best an arm that ran most seeds", () => {
    const [group] = groupsOf(results);
    if (!group) throw new Error("no group");
    expect(cheapestOwn(group, usual)?.arm).toBe("budget-hourly");
  });

  it("counts the jobs that consolidation killed in each run, not those of interruptions", () => {
    expect(killed).toContain("Consolidation killed 0 jobs");
    const jobsKilledBy = { underutilized: 3, empty: 1, interrupted: 9 };
    const held = [
      aRun({ arm: "hold-20m", seed: 1, jobsKilledBy }),
      aRun({ arm: "hold-20m", seed: 2, jobsKilledBy: { empty: 1 } }),
    ];
    const some = verdictOf(groupsOf([...runsOf("budget-hourly", 9, 9), ...held]));
    expect(some.at(-1)).toContain(
      "0 jobs a run with the best of Karpenter's own settings, 1 to 4 with `hold-20m`",
    );
  });

  it("says that there is none without a holder", () => {
    expect(verdictOf(groupsOf(runsOf("budget-hourly", 9)))).toEqual([
      "No work was run both with the holder and without it.",
    ]);
  });
});

it("the table has means over the seeds, their spread, and the cost as a multiple of the least", () => {
  const [group] = groupsOf([
    aRun({ seed: 1, evicted: 10, jobsKilled: 10 }),
    aRun({ seed: 2, evicted: 30, jobsKilled: 10, price: 7.68 }),
  ]);
  if (!group) throw new Error("no group");
  const cells = tableOf(group)
    .split("\n")[2]
    ?.split("|")
    .map((cell) => cell.trim());
  // Seed 1 costs 1,000 + 50 + 60, seed 2 1,200 + 50 + 120.
  expect(cells?.slice(1, -1).join(" ")).toBe(
    "`budget-hourly` 10 1,100 20 10 7 4.0 40 1,140 1,240 1,450 1,500 130 2.23",
  );
});

it("a trace in which nothing runs is no multiple of the least", () => {
  const [group] = groupsOf([aRun({ price: 0, bounds: [{ launch: 5, eviction: 3, cost: 0 }] })]);
  if (!group) throw new Error("no group");
  expect(tableOf(group)).toMatch(/\| +– \|$/);
});

describe("the page", () => {
  it("has the verdict before everything else, a table for each version, and where it was measured", () => {
    const block = blockOf([...results, ...results.map((run) => ({ ...run, karpenter: "1.13.0" }))], 20);
    expect(block.startsWith("- **`auto` costs")).toBe(true);
    expect(block).toContain("### `day`, types `one`, Karpenter 1.13.0, seeds 1, 2");
    // One seed has no spread.
    expect(block).toMatch(/`consolidate-after-0s` \(1 of 2 seeds\).* – \| +0\.02 \|/);
    expect(block).toContain("2026-11-24; Karpenter 1.13.0, 1.15.0, holder 0.2.0; 2 × a machine; 18 runs");
    expect(block).toContain("2 of the comparison's 20 runs are missing");
    expect(block).not.toMatch(/NaN|undefined|Infinity/);
  });

  it("is written with its picture, and a second time the same", () => {
    const into = newFolder();
    const file = writePage({ results, wanted: 9, into });
    const written = readFileSync(file, "utf8");
    expect(written).toContain("`auto` costs 0.90 times");
    const svg = readFileSync(join(into, "images/lab-costs.svg"), "utf8");
    expect(elementsIn(svg)[0]?.name).toBe("svg");
    writeFileSync(file, "");
    writePage({ results, wanted: 9, into });
    expect(readFileSync(file, "utf8")).toBe(written);
  });
});

it("the README has the strongest rival and the holder, of the versions that the picture shows", () => {
  const summary = summaryOf(groupsOf(results.map((run) => ({ ...run, evicted: 7.4, jobsKilled: 2 }))));
  const rows = summary.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
  expect(rows.slice(2, 6).map((cells) => cells.slice(1, -1))).toEqual([
    ["1.15", "`consolidateAfter: 5m`", "7", "2", "1,210", "1.19"],
    ["1.15", "a budget that opens each hour", "7", "2", "1,010", "1.00"],
    ["1.15", "node holder, `hold=20m`", "7", "2", "1,310", "1.29"],
    ["1.15", "**node holder, `hold=auto`**", "7", "2", "910", "0.90"],
  ]);
  expect(summary).toContain("the mean of 2 days");
  const into = newFolder();
  writePage({ results, wanted: 9, into });
  const readme = readFileSync(join(into, "README.md"), "utf8");
  expect(readme).toContain(summaryOf(groupsOf(results)));
  expect(readme).toContain("# Karpenter Node Holder");
});

describe("the picture", () => {
  const svg = drawGroups(groupsOf(results), "Costs");

  it("is as wide as a phone, and has a mark in the arm's colour for each arm", () => {
    expect(elementsIn(svg)[0]?.is.width).toBe("390");
    for (const arm of ["hold-20m", "budget-hourly", "consolidate-after-5m"])
      expect(svg).toContain(`fill="var(--arm-${arm},currentColor)"`);
    expect(svg).toContain("hold-20m: nodes 1,310, launches and evictions 0");
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  });

  it("leaves out what lies far away, or on others", () => {
    const others = [...runsOf("when-empty", 5_000, 5_000), ...runsOf("hold-20m-beside-30s", 1_300, 1_300)];
    const more = drawGroups(groupsOf([...results, ...others]), "Costs");
    expect(more).toBe(svg);
  });

  it("shows a dark theme, too", () => {
    expect(svg).toContain("@media(prefers-color-scheme:dark){.knh{--arm-");
  });
});

it("labels stand to the right of their points, or elsewhere where another is or the frame ends, and cover no other", () => {
  const frame = { left: 0, right: 300, top: 0, bottom: 300 };
  const points = [
    { text: "one", cx: 100, cy: 100 },
    { text: "two", cx: 112, cy: 100 },
    { text: "three", cx: 295, cy: 200 },
    ...Array.from({ length: 6 }, (_, i) => ({ text: `label ${i}`, cx: 150, cy: 200 + 10 * i })),
  ];
  const marks = points.map(({ cx, cy }) => ({ left: cx - 7, right: cx + 7, top: cy - 7, bottom: cy + 7 }));
  const [one, two, three, ...others] = placeLabels(points, marks, frame);
  expect(one?.x).toBeLessThan(90);
  expect([two?.x, two?.y]).toEqual([122, 104]);
  expect(three?.x).toBeLessThan(260);
  expect(new Set(others.map(({ x, y }) => `${Math.round(x)} ${Math.round(y)}`)).size).toBe(6);
});

it("a label is nearer to its own point than to another", () => {
  const frame = { left: 0, right: 300, top: 0, bottom: 300 };
  const points = [
    { text: "first", cx: 150, cy: 150 },
    { text: "second", cx: 200, cy: 150 },
  ];
  const marks = points.map(({ cx, cy }) => ({
    left: cx - 7,
    right: cx + 7,
    top: cy - 7,
    bottom: cy + 7,
  }));
  const [first, second] = placeLabels(points, marks, frame);
  expect(first?.x).toBeLessThan(150 - 30);
  expect(second?.x).toBe(210);
});

it("a label lies on no stroke where there is room beside it", () => {
  const frame = { left: 0, right: 300, top: 0, bottom: 300 };
  const point = { text: "first", cx: 150, cy: 150 };
  const place = (...strokes: readonly Stroke[]) => placeLabels([point], [], frame, strokes)[0];
  const { y: usual = 0 } = place() ?? {};
  expect(usual).toBeLessThan(point.cy);
  const { y = 0 } = place({ x1: 0, y1: usual - 4, x2: 300, y2: usual - 4 }) ?? {};
  expect(y).toBeGreaterThan(point.cy);
});
