import { describe, expect, it } from "vitest";
import { drawLines, drawScatter } from "../../report/plots/plot.ts";
import { numberTicks, timeStep, timeTicks } from "../../report/plots/scale.ts";
import { elementsIn } from "./markup.ts";

describe("ticks", () => {
  it.each([0, 0.003, 0.9, 1, 7, 99, 100, 1234, 5e6])(
    "of numbers are round, rise, and reach %d",
    (largest) => {
      const ticks = numberTicks(largest);
      const step = (ticks[1] ?? 0) - (ticks[0] ?? 0);
      expect(ticks[0]).toBe(0);
      expect(ticks.at(-1)).toBeGreaterThanOrEqual(largest);
      expect(ticks.length).toBeLessThanOrEqual(11);
      expect(["1", "2", "5"]).toContain(Number(step.toPrecision(6)).toExponential()[0]);
    },
  );

  it.each([10_000, 90_000, 600_000, 7_200_000, 90 * 86_400_000])(
    "of time are few enough to be read in %d ms",
    (span) => {
      const ticks = timeTicks(1_000, 1_000 + span, 1_000);
      expect(ticks.length).toBeGreaterThan(2);
      expect(ticks.length).toBeLessThanOrEqual(13);
      expect(ticks[0]).toBe(1_000);
      expect((ticks[1] ?? 0) - (ticks[0] ?? 0)).toBe(timeStep(span));
    },
  );
});

const lines = {
  title: "Regretted terminations",
  x: { label: "hold", unit: "min" },
  y: { label: "terminations" },
  series: [
    {
      name: "avoided",
      points: [
        [0, 0],
        [10, 40],
        [20, 55],
      ],
    },
    {
      name: "left",
      points: [
        [20, 5],
        [0, 60],
        [10, 20],
      ],
    },
  ],
  note: { x: 12, text: "recommended" },
} as const;

describe("a line plot", () => {
  it("draws larger values higher and to the right, from a common zero", () => {
    const dots = elementsIn(drawLines(lines)).filter(({ name }) => name === "circle");
    const [zero, ten, twenty] = dots.map(({ is }) => [Number(is.cx), Number(is.cy)] as const);
    expect(zero?.[0]).toBeLessThan(ten?.[0] ?? 0);
    expect(ten?.[0]).toBeLessThan(twenty?.[0] ?? 0);
    expect(zero?.[1]).toBeGreaterThan(ten?.[1] ?? 0);
    expect(ten?.[1]).toBeGreaterThan(twenty?.[1] ?? 0);
  });

  it("names axes, units, series and its note", () => {
    const svg = drawLines(lines);
    for (const said of ["hold (min)", "terminations", "avoided", "left", "recommended"])
      expect(svg).toContain(said);
  });

  it("keeps its note out of the lines' way, and names a single line by its axis alone", () => {
    const [only] = lines.series;
    const svg = drawLines({ ...lines, series: [only] });
    expect(svg).not.toContain(">avoided<");
    const dots = elementsIn(svg).filter(({ name }) => name === "circle");
    const [note] = elementsIn(svg).filter(
      ({ name, is }) => name === "text" && is["text-anchor"] === "end" && !is.class,
    );
    expect(Number(note?.is.y)).toBeLessThan(Math.min(...dots.map(({ is }) => Number(is.cy))));
  });

  it("draws an empty plot of no values", () => {
    expect(() => elementsIn(drawLines({ ...lines, series: [], note: { x: 0, text: "" } }))).not.toThrow();
  });
});

describe("a scatter plot", () => {
  const plot = { title: "Arms", x: { label: "cost" }, y: { label: "launches" } };
  const circles = (svg: string) => elementsIn(svg).filter(({ name }) => name === "circle");

  it("shows each of several points at one place, the later ones on top", () => {
    const series = ["a", "b", "c"].map((name) => ({ name, points: [[3, 4]] as const }));
    expect(circles(drawScatter({ ...plot, series })).map(({ is }) => is.r)).toEqual(["11", "8", "5"]);
  });

  it("puts a ring around a point, in the legend and in words", () => {
    const series = [{ name: "auto", colour: "launch", points: [[3, 4]] }] as const;
    const svg = drawScatter({ ...plot, series, ring: { at: [3, 4], text: "cheapest" } });
    const [inLegend, dot, ring] = circles(svg);
    expect([inLegend?.is.fill, dot?.is.fill, ring?.is.fill]).toEqual(["none", "var(--knh-launch)", "none"]);
    expect([ring?.is.cx, ring?.is.cy]).toEqual([dot?.is.cx, dot?.is.cy]);
    expect(svg).toContain("cheapest: 4 at 3");
  });
});

describe("a legend", () => {
  const names = [
    "none",
    "consolidate-after",
    "balanced",
    "empty-only",
    "launches",
    "holder",
    "auto",
    "other",
  ];
  const series = names.map((name, i) => ({ name, points: [[i, i]] as const }));
  const drawn = elementsIn(
    drawScatter({ title: "Arms", x: { label: "cost" }, y: { label: "launches" }, series }),
  );
  const swatches = drawn.filter(({ name, is }) => name === "rect" && is.rx === "3");

  it("gives each of eight series a colour of its own", () => {
    expect(new Set(swatches.map(({ is }) => is.fill)).size).toBe(names.length);
  });

  it("leaves out a series without points, and gives the others the same colours", () => {
    const [, ...others] = series;
    const plot = { title: "Arms", x: { label: "cost" }, y: { label: "launches" } };
    const without = drawScatter({ ...plot, series: [{ name: "none", points: [] }, ...others] });
    const colours = elementsIn(without).filter(({ name, is }) => name === "rect" && is.rx === "3");
    expect(colours.map(({ is }) => is.fill)).toEqual(swatches.slice(1).map(({ is }) => is.fill));
  });

  it("takes further rows before a name is cut off, above the values", () => {
    const rows = new Set(swatches.map(({ is }) => Number(is.y)));
    expect(rows.size).toBe(3);
    for (const [i, { is }] of swatches.entries())
      expect(Number(is.x) + 18 + (names[i]?.length ?? 0) * 6.6).toBeLessThan(460);
    const dots = drawn.filter(({ name }) => name === "circle").map(({ is }) => Number(is.cy));
    expect(Math.max(...rows)).toBeLessThan(Math.min(...dots) - 20);
  });
});
