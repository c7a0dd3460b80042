import { expect, it } from "vitest";
import { holdIds, systemClock } from "../../lambda/system-clock.ts";

it("gives each hold a new id that sorts by time and is valid in a label and a schedule", () => {
  // Not more ids: two of a thousand ids for one second are equal once in two thousand runs.
  const ids = Array.from({ length: 10 }, () => holdIds.newHoldId(new Date("2026-11-21T09:30:05.999Z")));
  expect(new Set(ids).size).toBe(10);
  for (const id of ids) expect(id).toMatch(/^20261121t093005-[a-z0-9]{6}$/);
  expect(holdIds.newHoldId(new Date("2026-11-21T09:30:06Z")) > (ids[0] ?? "")).toBe(true);
});

it("returns the present time", () => {
  const before = Date.now();
  const now = systemClock.now().getTime();
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
});
