import { describe, expect, it } from "vitest";
import { formatDuration, hours, minutes, parseDuration, seconds } from "../../lambda/core/duration.ts";
import fc from "../support/fast-check.ts";

describe("a duration", () => {
  it("is read as Karpenter and kubectl write it", () => {
    const read = ["90s", "20m", "2h", "1h30m", "1h5s", " 20m ", "0s"].map(parseDuration);

    const half = hours(1.5);
    expect(read).toEqual([seconds(90), minutes(20), hours(2), half, hours(1) + seconds(5), minutes(20), 0]);
    expect(["7d", "1d12h"].map(parseDuration)).toEqual([hours(168), hours(36)]);
  });

  it("is invalid where a unit is missing, unknown, negative or out of order", () => {
    const texts = ["", " ", "20", "m", "20 m", "-5m", "1.5h", "5m1h", "1h1d", "d", "20M", "1h1h", "٣m"];

    expect(texts.filter((text) => parseDuration(text) !== undefined)).toEqual([]);
  });

  it("reads back what it wrote", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000_000 }), (n) => {
        expect(parseDuration(formatDuration(seconds(n)))).toBe(seconds(n));
      }),
    );
  });

  it("drops parts of a second when written", () => {
    expect([formatDuration(999), formatDuration(61_500)]).toEqual(["0s", "1m1s"]);
  });
});
