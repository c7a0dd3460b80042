import { between, exponential, type Random, randomOf } from "../random.ts";

/** A pod of batch work: when it is created, how long it runs, what it requests. Times in seconds. */
export type Job = Readonly<{ name: string; at: number; runs: number; cpu: number; image: string }>;

/** A Deployment and what is changed in it: a change with `replicas` scales it, another one rolls it out. */
export type Service = Readonly<{
  name: string;
  replicas: number;
  cpu: string;
  changes?: readonly Readonly<{ at: number; replicas?: number }>[];
}>;

/** One kind of work, the same for the same seed. */
export type Trace = Readonly<{
  about: string;
  /** How long it is observed, in seconds. */
  lasts: number;
  services: readonly Service[];
  jobs: readonly Job[];
  /** When the NodePool's template changes, so that every node drifts; at most one node at a time is replaced. */
  driftsAt?: number;
  /** Whether nodes are disrupted for their drift alone, so that nothing else is launched meanwhile. */
  driftAlone?: true;
}>;

const services: readonly Service[] = [
  { name: "web", replicas: 4, cpu: "500m" },
  { name: "api", replicas: 3, cpu: "700m" },
  { name: "search", replicas: 2, cpu: "900m" },
];

/** Every trace, by name. */
export const traces = {
  dense: (random) => ({
    about: "eight bursts of seven jobs, one every 45 s",
    lasts: 540,
    services,
    jobs: bursts(random, { count: 8, every: 45, size: 7 }),
  }),
  sparse: (random) => ({
    about: "three bursts of seven jobs, one every 200 s",
    lasts: 640,
    services,
    jobs: bursts(random, { count: 3, every: 200, size: 7 }),
  }),
  ci: (random) => ({
    about: "CI runners: jobs arrive at random, one every 10 s on average, most are short, some are long",
    lasts: 620,
    services,
    jobs: arrivals(random, { until: 330, every: 10 }),
  }),
  rollout: () => ({
    about: "a large service rolls out twice with a surge of all its pods",
    lasts: 420,
    services: [...services, { name: "shop", replicas: 10, cpu: "900m", changes: [{ at: 60 }, { at: 200 }] }],
    jobs: [],
  }),
  nightly: (random) => ({
    about: "one batch of 24 jobs",
    lasts: 360,
    services,
    jobs: bursts(random, { count: 1, every: 1, size: 24, runs: [60, 100] }),
  }),
  cron: (random) => ({
    about: "a quiet cluster with one small job every minute",
    lasts: 600,
    services,
    jobs: bursts(random, { count: 8, every: 60, size: 1, runs: [10, 15] }),
  }),
  drift: (random) => ({
    about: "dense bursts, and after 60 s every node drifts (budget: one node at a time)",
    lasts: 640,
    services,
    jobs: bursts(random, { count: 8, every: 45, size: 7 }),
    driftsAt: 60,
  }),
  roll: () => ({
    about:
      "full nodes, no bursts and no consolidation; once the hold of the first launches has ended, every node drifts (budget: one node at a time)",
    lasts: 300,
    // Pods that fill their nodes fit nowhere but on the replacement, so that none of them waits for another node.
    services: [{ name: "shop", replicas: 12, cpu: "1800m" }],
    jobs: [],
    driftsAt: 130,
    driftAlone: true,
  }),
  daynight: (random) => ({
    about: "day and night: six dense bursts, then two sparse ones",
    lasts: 800,
    services,
    jobs: [
      ...bursts(random, { count: 6, every: 45, size: 7 }),
      ...bursts(random, { count: 2, every: 200, size: 7, from: 420 }),
    ],
  }),
} as const satisfies Record<string, (random: Random) => Trace>;

export type TraceName = keyof typeof traces;

/** The same trace for the same seed, on any machine. */
export const traceOf = (name: TraceName, seed: number): Trace => traces[name](randomOf(seed));

type Bursts = Readonly<{
  count: number;
  every: number;
  size: number;
  runs?: readonly [number, number];
  from?: number;
}>;

function bursts(random: Random, { count, every, size, runs = [12, 20], from = 10 }: Bursts): Job[] {
  return Array.from({ length: count }, (_, burst) =>
    Array.from({ length: size }, (_, i) =>
      job(random, `${from}-${burst}-${i}`, from + burst * every + random() * 2, between(random, ...runs)),
    ),
  ).flat();
}

/** Poisson arrivals of jobs whose length has a heavy tail (Pareto, at most 150 s). */
function arrivals(random: Random, { until, every }: Readonly<{ until: number; every: number }>): Job[] {
  const jobs: Job[] = [];
  for (let at = 10; at < until; at += exponential(random, every)) {
    jobs.push(job(random, `ci-${jobs.length}`, at, Math.min(150, 8 / (1 - random()) ** (1 / 1.3))));
  }
  return jobs;
}

const job = (random: Random, name: string, at: number, runs: number): Job => ({
  name: `job-${name}`,
  at,
  runs,
  cpu: random() < 0.5 ? 1 : 2,
  image: `batch-${Math.floor(random() * 3)}`,
});
