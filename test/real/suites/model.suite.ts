import { expect, it } from "vitest";
import { check, type Kind } from "../../model/check.ts";

it.each<[number, string, Kind]>([
  [1_000, "random runs every rule holds", "any"],
  [150, "runs without faults no sweep is needed", "good-day"],
  [10, "runs of work with habits nodes are let go as it has taught", "habit"],
])("in %i other %s", async (runs, _, kind) => {
  expect(await check({ seed: 20261128, runs, kind })).toBeUndefined();
});
