import { expect, it } from "vitest";
import { holdIds, systemClock } from "../../lambda/adapters/system-clock.ts";

it("names each hold anew, sorted by time, in letters that a label and a schedule take", () => {
  const ids = Array.from({ length: 1_000 }, () => holdIds.newHoldId(new Date("2026-11-21T09:30:05.999Z")));
  expect(new Set(ids).size).toBe(1_000);
  for (const id of ids) expect(id).toMatch(/^20261121t093005-[a-z0-9]{6}$/);
  expect(holdIds.newHoldId(new Date("2026-11-21T09:30:06Z")) > (ids[0] ?? "")).toBe(true);
});

it("tells the present", () => {
  const before = Date.now();
  const now = systemClock.now().getTime();
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
});
