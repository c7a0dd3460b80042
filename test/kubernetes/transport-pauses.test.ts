import { describe, expect, it } from "vitest";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import { pauseAfter, readRetryAfter } from "../../lambda/kubernetes/transport.ts";

const now = new Date("2026-03-01T12:00:00Z");

describe("the pause before the next attempt", () => {
  it("is twice as long each time, up to ten seconds", () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7, 20].map((attempt) => pauseAfter(attempt, () => 1));
    expect(pauses).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
  });

  it("differs from client to client, by up to half of it", () => {
    expect(pauseAfter(3, () => 0)).toBe(400);
    expect(pauseAfter(3, () => 0.5)).toBe(600);
  });
});

describe("a Retry-After header", () => {
  it.each([
    ["5", seconds(5)],
    ["0", 0],
    ["Sun, 01 Mar 2026 12:00:30 GMT", seconds(30)],
    ["Sun, 01 Mar 2026 11:00:00 GMT", 0],
    ["2026-03-01T12:00:30+00:00", seconds(30)],
    ["999999", minutes(15)],
  ])("of %j is read", (header, expected) => {
    expect(readRetryAfter(header, now)).toBe(expected);
  });

  it.each([undefined, "", " ", "soon"])("of %j is ignored", (header) => {
    expect(readRetryAfter(header, now)).toBeUndefined();
  });
});
