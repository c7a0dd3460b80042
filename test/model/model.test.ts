import { expect, it } from "vitest";
import { check } from "./check.ts";

const runs = 500;

it(`in ${runs} random runs every rule holds`, { timeout: 120_000 }, async () => {
  const broken = await check({ seed: 20261121, runs });

  expect(broken).toBeUndefined();
});

const goodDays = 100;

it(`in ${goodDays} runs without faults no sweep is needed`, { timeout: 120_000 }, async () => {
  const broken = await check({ seed: 20261121, runs: goodDays, kind: "good-day" });

  expect(broken).toBeUndefined();
});

const habits = 8;

it(`in ${habits} runs of work with habits nodes are let go as it has taught`, {
  timeout: 300_000,
}, async () => {
  const broken = await check({ seed: 20261121, runs: habits, kind: "habit" });

  expect(broken).toBeUndefined();
});
