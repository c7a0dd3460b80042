import { expect, it } from "vitest";
import { check, type Kind } from "./check.ts";

it.each<[number, string, Kind]>([
  [60, "random runs every rule holds", "any"],
  [10, "runs without faults no sweep is needed", "good-day"],
  [2, "runs of work with habits nodes are let go as it has taught", "habit"],
])("in %i %s", { timeout: 120_000 }, async (runs, _, kind) => {
  expect(await check({ seed: 20261121, runs, kind })).toBeUndefined();
});
