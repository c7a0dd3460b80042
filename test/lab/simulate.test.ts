import { describe, expect, it } from "vitest";
import { type Measured, mean, measure, terms } from "../../lab/simulate/measure.ts";
import { figuresOf, plotOf } from "../../lab/simulate/page.ts";
import { costOfBestConstant, costOfConstant, play } from "../../lab/simulate/play.ts";
import { families, natural, type Trace, traceOf } from "../../lab/simulate/traces.ts";
import { minutes } from "../../lambda/core/duration.ts";
import { formatNumber } from "../../report/plots/plot.ts";

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
  const expected = measured.filter(({ family }) => natural.includes(family));

  it("reach the goals: at most 15 % above the best constant on each family, and 10 % on average", () => {
    const ratios = expected.map(({ family, ratios: { auto } }) => ({ family, ratio: mean(auto) }));
    for (const { family, ratio } of ratios) expect(ratio, family).toBeLessThanOrEqual(1.15);
    expect(mean(ratios.map(({ ratio }) => ratio))).toBeLessThanOrEqual(1.1);
  });

  it("show that learning costs less than a constant hold of `relaunchCost`", () => {
    for (const { family, ratios } of expected)
      expect(mean(ratios.auto), family).toBeLessThan(mean(ratios.always));
  });

  it("name every family, and are drawn in percent above the best constant", () => {
    const written = figuresOf(measured, 40);
    for (const family of families) expect(written).toContain(`| ${family} `);
    const svg = plotOf(measured);
    expect(svg).toContain("cost above the best constant (%)");
    const percent = (mean(expected.map(({ ratios }) => mean(ratios.auto))) - 1) * 100;
    expect(svg).toContain(`hold=auto: ${formatNumber(percent)} % at 36`);
  });
});
