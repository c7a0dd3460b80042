import { describe, expect, it } from "vitest";
import { busyBetween } from "../../lab/bench/quiet.ts";
import { figuresTable } from "../../lab/bench/table.ts";

describe("the table of the benchmarks", () => {
  const figures = [
    { what: "mark", value: "1 s", beside: "bare loop 2 s", goal: "≥ 90 %", reached: true },
    { what: "release", value: "9 s", reached: false },
  ];
  const table = figuresTable(figures, "2026-11-30; a machine.", "whole");

  it("has a row for each figure, with its limit and whether its goal is reached", () => {
    expect(table).toContain("| mark | 1 s | bare loop 2 s | ≥ 90 % | yes |");
    expect(table).toContain("| release | 9 s |  |  | **no** |");
  });

  it("ends with day, versions and machine, and marks a quick run as no measurement", () => {
    expect(table.split("\n").at(-1)).toBe("2026-11-30; a machine.");
    expect(figuresTable(figures, "2026-11-30; a machine.", "quick")).toContain("**No measurement**");
  });
});

it("writes figures on a machine that is idle for nine tenths of the time, and on no busier one", () => {
  const before = { idle: 500, total: 1_000 };
  const afterIdle = (idle: number) => ({ idle: before.idle + idle, total: before.total + 1_000 });
  expect(busyBetween(before, afterIdle(1_000))).toBeUndefined();
  expect(busyBetween(before, afterIdle(901))).toBeUndefined();
  expect(busyBetween(before, afterIdle(890))).toMatch(/busy with other work \(11 % of its processors\)/);
  expect(busyBetween(before, afterIdle(0))).toMatch(/\(100 %/);
});
