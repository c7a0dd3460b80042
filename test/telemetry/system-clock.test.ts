import { expect, it } from "vitest";
import { holdIds, systemClock } from "../../lambda/system-clock.ts";

it("names each hold anew, sorted by time, in letters that a label and a schedule take", () => {
  // No more than so many: of a thousand names for one second two are alike once in two thousand runs.
  const ids = Array.from({ length: 10 }, () => holdIds.newHoldId(new Date("2026-11-21T09:30:05.999Z")));
  expect(new Set(ids).size).toBe(10);
  for (const id of ids) expect(id).toMatch(/^20261121t093005-[a-z0-9]{6}$/);
  expect(holdIds.newHoldId(new Date("2026-11-21T09:30:06Z")) > (ids[0] ?? "")).toBe(true);
});

it("reports the present", () => {
  const before = Date.now();
  const now = systemClock.now().getTime();
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
});
