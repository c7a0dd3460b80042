import { describe, expect, it } from "vitest";
import { demandOf, leastCost } from "../../../lab/days/bound.ts";
import { costOf } from "../../../lab/days/cost.ts";
import { parseTrace } from "../../../lab/days/traces/trace.ts";
import { type InstanceType, typesOf } from "../../../lab/days/worlds.ts";

const counted = { price: 0.64, launched: 4, evicted: 7, jobsKilled: 3 };

it("a run costs the time of nodes by their price, and so much for each launch and each evicted pod, jobs' pods too", () => {
  expect(costOf(counted, { launch: 5, eviction: 3 })).toBeCloseTo(100 + 5 * 4 + 3 * 10);
});

/** A type without anything reserved, so that sums are round. */
const nodeOf = (cpu: number): InstanceType => ({
  ...{ name: `n${cpu}`, cpu, memory: `${4 * cpu}Gi`, pods: 100, price: 0.048 * cpu },
  ...{ reservedCpu: "0", reservedMemory: "0" },
});
const one = [nodeOf(8)];

const minute = 60;
/** Jobs as "from to cores", in minutes, in an hour beside a service of so many cores. */
const traceOf = (jobs: readonly string[], service = 0) =>
  parseTrace(
    {
      lasts: 60 * minute,
      services: service > 0 ? [{ name: "web", replicas: 1, cpu: service }] : [],
      jobs: jobs.map((job, i) => {
        const [from = 0, to = 0, cpu] = job.split(" ").map(Number);
        return { name: `job-${i}`, at: from * minute, runs: (to - from) * minute, cpu };
      }),
    },
    "t",
  );

describe("the least possible cost", () => {
  it("is the time for which nodes are needed, and a launch", () => {
    expect(leastCost(traceOf(["10 30 8"]), one, 5)).toBe(20 + 5);
  });

  it("counts no launch for what the trace begins with, and nothing after the last use", () => {
    expect(leastCost(traceOf([], 8), one, 5)).toBe(60);
    expect(leastCost(traceOf(["0 20 8"]), one, 5)).toBe(20);
  });

  it("keeps a node in a short pause, and launches it again after a long one", () => {
    expect(leastCost(traceOf(["0 10 8", "13 20 8"]), one, 5)).toBe(10 + 3 + 7);
    expect(leastCost(traceOf(["0 10 8", "40 50 8"]), one, 5)).toBe(10 + 5 + 10);
  });

  it("decides for each level by itself", () => {
    // The first node pauses for 2 minutes, the second for 20.
    const trace = traceOf(["0 10 16", "12 14 8", "30 40 16"]);
    expect(leastCost(trace, one, 5)).toBe(2 * 10 + 2 + 2 + 5 + 5 + 2 * 10);
  });

  it("needs whole nodes: nine cores are two nodes of eight", () => {
    expect(leastCost(traceOf(["0 10 9"]), one, 5)).toBe(20);
  });

  it("with several sizes needs as many cores as fit, and a launch of the largest brings many", () => {
    const mixed = [nodeOf(2), nodeOf(16)];
    // Ten cores for half an hour are 1.25 nodes of eight, and 10/16 of a launch.
    expect(leastCost(traceOf(["10 40 9"]), mixed, 8)).toBeCloseTo(30 * 1.25 + 5);
  });

  it("pays for a core what the cheapest costs", () => {
    const dear = { ...nodeOf(8), price: 0.8 };
    expect(leastCost(traceOf([], 8), [dear, { ...nodeOf(8), price: 0.192 }], 5)).toBe(30);
    expect(leastCost(traceOf([], 8), [dear], 5)).toBe(125);
  });

  it("takes the scarcest resource, and leaves room for the daemons of each node", () => {
    const job = { name: "job", at: 0, runs: 600, cpu: 1, memory: "40Gi" };
    expect(leastCost(parseTrace({ lasts: 3_600, jobs: [job] }, "t"), one, 5)).toBe(2 * 10);
    const daemons = [{ name: "agent", cpu: 1, memory: "1Mi" }];
    const full = parseTrace({ lasts: 3_600, daemons, jobs: [{ ...job, cpu: 8, memory: "1Gi" }] }, "t");
    expect(leastCost(full, one, 5)).toBe(2 * 10);
  });

  it("grows with the price of a launch, and is below what any node that exists all the time costs", () => {
    const trace = traceOf(["0 5 8", "20 30 16", "45 50 8"]);
    const costs = [0, 1, 5, 10, 100].map((launch) => leastCost(trace, typesOf("one"), launch));
    expect(costs).toEqual(costs.toSorted((a, b) => a - b));
    expect(costs.at(-2)).toBeLessThan(3 * 60 + 2 * 10);
  });
});

it("the demand follows the replicas of services, not their rollouts, and jobs", () => {
  const trace = parseTrace(
    {
      lasts: 100,
      services: [
        {
          name: "web",
          replicas: 2,
          cpu: "500m",
          memory: "1Gi",
          changes: [{ at: 10, replicas: 4 }, { at: 20 }],
        },
      ],
      jobs: [{ name: "job", at: 15, runs: 10, cpu: 2 }],
    },
    "t",
  );
  expect(demandOf(trace)).toEqual([
    { at: 0, cores: 1, gib: 2, pods: 2 },
    { at: 10, cores: 2, gib: 4, pods: 4 },
    { at: 15, cores: 4, gib: 4, pods: 5 },
    { at: 20, cores: 4, gib: 4, pods: 5 },
    { at: 25, cores: 2, gib: 4, pods: 4 },
  ]);
});
