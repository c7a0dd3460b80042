import { describe, expect, it } from "vitest";
import { type Measured, mean, measure, terms } from "../../lab/simulate/measure.ts";
import { figuresOf, plotOf, withFigures } from "../../lab/simulate/page.ts";
import { costOfBestConstant, costOfConstant, play } from "../../lab/simulate/play.ts";
import { product } from "../../lab/simulate/rules.ts";
import { families, natural, type Trace, traceOf } from "../../lab/simulate/traces.ts";
import { minutes } from "../../lambda/core/duration.ts";
import { elementsIn } from "../report/markup.ts";

const traceWith = (gaps: readonly number[], nodes = 1): Trace => {
  const left = [...gaps];
  return { nextNodes: () => nodes, nextGap: () => minutes(left.shift() ?? 0) };
};
const always = (minute: number) => () => minutes(minute);
const played = (gaps: readonly number[], hold: number, nodes = 1) =>
  play(traceWith(gaps, nodes), gaps.length, always(hold), terms);

describe("a played trace", () => {
  it("costs idle minutes while nodes are held, and a relaunch when the burst came later", () => {
    expect(played([4, 30, 12], 10).cost).toBe(minutes(4 + 20 + 20));
    expect(played([4, 30, 12], 0).cost).toBe(minutes(30));
    expect(played([4], 10, 7).cost).toBe(minutes(28));
  });

  it("learns gaps after a release exactly, and the last of several uses of a hold when it is due", () => {
    expect(played([4, 3, 30, 12], 10).learned.gaps).toEqual([
      { nodes: 1, atLeast: 0, atMost: minutes(7) },
      { nodes: 1, atLeast: minutes(30), atMost: minutes(30) },
      { nodes: 1, atLeast: minutes(12), atMost: minutes(12) },
    ]);
  });

  it("is compared with the cheapest constant length up to the cap", () => {
    const { bursts } = played([4, 4, 4, 300], 10);
    expect(costOfConstant(bursts, minutes(4), terms)).toBe(minutes(12 + 14));
    expect(costOfBestConstant(bursts, terms)).toBe(minutes(12 + 14));
    expect(costOfBestConstant(played([300], 0).bursts, terms)).toBe(terms.relaunchCost);
  });
});

it.each(families)("draws the same trace of %s for the same number", (family) => {
  const gaps = (number: number) => {
    const trace = traceOf(family, number, 36);
    return Array.from({ length: 36 }, () => [trace.nextNodes(), trace.nextGap(minutes(5))]);
  };
  expect(gaps(3)).toEqual(gaps(3));
  expect(gaps(3)).not.toEqual(gaps(4));
});

describe("the figures", () => {
  const measured: readonly Measured[] = families.map((family) => measure({ family, count: 36 }, 40));
  const meanOf = (rule: string) =>
    mean(
      measured.filter(({ family }) => natural.includes(family)).map(({ ratios }) => mean(ratios[rule] ?? [])),
    );

  it("reach the goals, and no other rule is better by more than 2 %", () => {
    for (const { family, ratios } of measured.filter((one) => natural.includes(one.family)))
      expect(mean(ratios[product] ?? []), family).toBeLessThanOrEqual(1.15);
    expect(meanOf(product)).toBeLessThanOrEqual(1.1);
    for (const rule of Object.keys(measured[0]?.ratios ?? {}))
      expect(meanOf(rule) * 1.02, rule).toBeGreaterThanOrEqual(meanOf(product));
  });

  it("stand between the marks of the page, and nothing else changes", () => {
    const page =
      "before\n<!-- figures written by npm run simulate -->\nold\n<!-- end of figures -->\nafter\n";
    const written = withFigures(page, figuresOf(measured, 40));
    expect(written).toMatch(/^before\n[\s\S]+280 traces[\s\S]+\nafter\n$/);
    expect(written).not.toContain("old\n");
    expect(() => withFigures("no marks", "")).toThrow("the page needs the lines");
  });

  it("are drawn with a line for each rule", () => {
    expect(elementsIn(plotOf(measured)).filter(({ name }) => name === "path").length).toBeGreaterThanOrEqual(
      6,
    );
  });
});
