import { describe, expect, it } from "vitest";
import { numberTicks, timeStep, timeTicks } from "../../report/scale.ts";

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
      const ticks = timeTicks(0, span);
      expect(ticks.length).toBeGreaterThan(2);
      expect(ticks.length).toBeLessThanOrEqual(13);
      expect(ticks[0]).toBe(0);
      expect((ticks[1] ?? 0) - (ticks[0] ?? 0)).toBe(timeStep(span));
    },
  );
});
