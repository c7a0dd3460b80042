import type { RunResult } from "../../../lab/days/result.ts";

/** A result with round figures: 1,000 minutes of nodes of 8 cores. */
export const aRun = (result: Partial<RunResult> = {}): RunResult => ({
  ...{ arm: "budget-hourly", karpenter: "1.15.0", trace: "day", types: "one", seed: 1 },
  ...{ launched: 10, gone: 10, nodeMinutes: 1_000, coreMinutes: 8_000, price: 6.4 },
  ...{ evicted: 20, evictedBy: {}, jobsKilled: 0, jobsKilledBy: {}, jobsRun: 100 },
  ...{ waitMean: 4, wait95: 40, imagesPulled: 50, disruptions: {}, drifted: 0, driftSeconds: null },
  ...{ interrupted: 0, marks: 0, wallSeconds: 3, bounds: [{ launch: 5, eviction: 3, cost: 555 }] },
  ...{ key: "k", about: "a day", lasts: 86_400, version: "0.2.0" },
  ...{ date: "2026-11-24", machine: "2 × a machine" },
  ...result,
});
