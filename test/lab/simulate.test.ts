import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { auto, bestPerNode, type Measured, meanOf, measure, terms } from "../../lab/simulate/measure.ts";
import { figuresOf, goalCount, plotOf } from "../../lab/simulate/page.ts";
import {
  autoKeeper,
  costOfBestConstant,
  costOfOptimum,
  eachNode,
  nodeByNode,
  play,
  wholeCluster,
} from "../../lab/simulate/play.ts";
import { families, type Trace, traceOf, traceOfPods } from "../../lab/simulate/traces.ts";
import { minutes } from "../../lambda/core/duration.ts";
import { formatNumber } from "../../report/plots/plot.ts";
import { newFolder } from "../support/new-folder.ts";

/** Bursts as [minute, nodes] or [from, to, nodes]. */
const traceWith = (...needs: readonly (readonly number[])[]): Trace =>
  needs.map((need) => ({
    from: minutes(need[0] ?? 0),
    to: minutes(need.at(-2) ?? 0),
    nodes: need.at(-1) ?? 0,
  }));

describe("what keeping nodes costs", () => {
  // Level 1 is idle for 4 and 30 minutes, levels 2 and 3 for 34.
  const trace = traceWith([0, 3], [4, 1], [34, 3]);
  it.each([
    ["each node, nothing", eachNode(0), 4 * 10],
    ["each node, for 10 minutes", eachNode(minutes(10)), 4 + 20 + 2 * 20],
    ["all nodes, for 10 minutes after any burst", wholeCluster(minutes(10)), 4 + 20 + 2 * 24],
    ["each node, until it is needed", eachNode(minutes(34)), 4 + 30 + 2 * 34],
    ["each node, for as long as pays, before anything is learned", nodeByNode(terms), 4 + 20 + 2 * 20],
    [
      "as `hold=auto` begins: until 10 minutes after half of them were needed",
      autoKeeper(terms),
      4 + 16 + 2 * 20,
    ],
  ])("%s", (_, keeper, cost) => {
    expect(play(trace, keeper, terms).cost).toBe(minutes(cost));
  });

  it("is compared with what would have cost least for each level and gap, and with one length for all", () => {
    const { gaps } = play(trace, eachNode(0), terms);
    expect(costOfOptimum(gaps, terms)).toBe(minutes(4 + 10 + 2 * 10));
    expect(costOfBestConstant(gaps, terms)).toBe(minutes(4 * 10));
  });

  it("counts the time that a node waits in vain until the end, but no relaunch", () => {
    const { cost, relaunches, gaps } = play(
      traceWith([0, 2], [30, 1], [60, 1]),
      eachNode(minutes(10)),
      terms,
    );
    expect([cost, relaunches]).toEqual([minutes(10 + 20 + 20), 2]);
    expect(costOfOptimum(gaps, terms)).toBe(minutes(20));
  });

  it("counts no time in which nodes are in use", () => {
    expect(play(traceWith([0, 20, 2], [20, 50, 1], [50, 60, 2]), eachNode(minutes(10)), terms).cost).toBe(
      minutes(20),
    );
  });

  it("grows where small pods use more nodes than they need", () => {
    const often = traceWith([0, 8], ...Array.from({ length: 40 }, (_, n) => [4 + 4 * n, 2]), [200, 8]);
    const [exact = 0, wandering = 0] = [1, 4].map(
      (times) => play(often, autoKeeper(terms, times), terms).cost,
    );
    expect(wandering).toBeGreaterThan(1.5 * exact);
  });
});

it.each(families)("draws the same trace of %s for the same number, with sizes that vary", (family) => {
  const trace = traceOf(family, 3, 144);
  expect(traceOf(family, 3, 144)).toEqual(trace);
  expect(traceOf(family, 4, 144)).not.toEqual(trace);
  expect(new Set(trace.map(({ nodes }) => nodes)).size).toBeGreaterThan(1);
});

describe("a file of pods", () => {
  const write = (text: string) => {
    const file = join(newFolder(), "pods.csv");
    writeFileSync(file, text);
    return file;
  };

  it("becomes the nodes that they need", () => {
    const file = write("name,scheduled_s,deleted_s,cpu_milli\na,0,120,3000\nb,60,300,2000\nc,400,460,1000\n");
    expect(traceOfPods(file, 4)).toEqual(traceWith([0, 1, 1], [1, 2, 2], [2, 5, 1], [20 / 3, 23 / 3, 1]));
  });

  it("that cannot be read is refused with its line", () => {
    expect(() => traceOfPods(write("scheduled_s,deleted_s,cpu_milli\n0,x,1\n"), 4)).toThrow(
      /line 2 must have/,
    );
  });
});

describe("the figures", () => {
  const traces = 6;
  const measured: readonly Measured[] = families.map((family) =>
    measure({ family, count: goalCount }, traces),
  );
  const mean = meanOf(measured.map(({ ratios }) => ratios));

  it("of `hold=auto` are at most 1.25 times the optimum on average, and near the best constant in hindsight", () => {
    expect(mean[auto]).toBeLessThanOrEqual(1.25);
    expect(mean[auto]).toBeLessThanOrEqual(1.03 * mean[bestPerNode]);
    expect(mean[auto]).toBeLessThan(0.75 * mean["10m per node"]);
  });

  it("name every family, and are drawn in percent above the optimum", () => {
    const written = figuresOf(measured, traces);
    for (const family of families) expect(written).toContain(` ${family} |`);
    expect(plotOf(measured)).toContain(
      `hold=auto: ${formatNumber((mean[auto] - 1) * 100)} % at ${goalCount}`,
    );
  });
});
