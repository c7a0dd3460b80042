import { expect, it } from "vitest";
import { busyBetween } from "../../lab/bench/quiet.ts";

it("writes figures on a machine that is idle for nine tenths of the time, and on no busier one", () => {
  const before = { idle: 500, total: 1_000 };
  const afterIdle = (idle: number) => ({ idle: before.idle + idle, total: before.total + 1_000 });
  expect(busyBetween(before, afterIdle(1_000))).toBeUndefined();
  expect(busyBetween(before, afterIdle(901))).toBeUndefined();
  expect(busyBetween(before, afterIdle(890))).toMatch(/busy with other work \(11 % of its processors\)/);
  expect(busyBetween(before, afterIdle(0))).toMatch(/\(100 %/);
});
