import { between, exponential, type Random } from "../../random.ts";
import type { Job, Service, Trace } from "./trace.ts";
import { heavyTail } from "./work.ts";

/** Minutes of work, each of one kind, short enough for the wall clock: nodes of two and four cores suit them. */
type Short = Pick<Trace, "about" | "lasts" | "services" | "jobs"> &
  Partial<Pick<Trace, "drifts" | "driftAlone">>;

const services: Service[] = [
  { name: "web", replicas: 4, cpu: "500m" },
  { name: "api", replicas: 3, cpu: "700m" },
  { name: "search", replicas: 2, cpu: "900m" },
];

/** The request of a pod that fits beside everything else. */
const smallCpu = 0.05;

export const short = {
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
  "ci-short": (random) => ({
    about: "CI runners: jobs arrive at random, one every 10 s on average, most are short, some are long",
    lasts: 620,
    services,
    jobs: arrivals(random, { until: 330, every: 10 }),
  }),
  rollout: () => ({
    about: "a large service rolls out twice with a surge of all its pods",
    lasts: 420,
    services: [
      ...services,
      { name: "shop", replicas: 10, cpu: "900m", surge: 1, changes: [{ at: 60 }, { at: 140 }] },
    ],
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
    about: "dense bursts, and after 60 s every node drifts",
    lasts: 640,
    services,
    jobs: bursts(random, { count: 8, every: 45, size: 7 }),
    drifts: [{ at: 60 }],
  }),
  roll: () => ({
    about: "full nodes, no bursts and no consolidation; then every node drifts",
    lasts: 300,
    // Pods that fill their nodes fit nowhere but on the replacement, so that none of them waits for another node.
    services: [{ name: "shop", replicas: 12, cpu: "1800m" }],
    jobs: [],
    drifts: [{ at: 130 }],
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
  vary: (random) => ({
    about: "one burst of seven jobs that need a node each, then one small pod every 40 s to the end",
    lasts: 440,
    services: [{ name: "web", replicas: 4, cpu: "500m" }],
    jobs: [
      ...bursts(random, { count: 1, every: 1, size: 7, cpu: 3 }),
      ...trickle(random, { from: 50, until: 420, every: 40 }),
    ],
  }),
  shrink: (random) => ({
    about:
      "a service grows from 2 to 14 pods, a burst of seven jobs comes and goes, the service shrinks to 2 again, and a small pod comes every 20 s all the time",
    lasts: 480,
    services: [
      {
        name: "shop",
        replicas: 2,
        cpu: "900m",
        changes: [
          { at: 10, replicas: 14 },
          { at: 120, replicas: 2 },
        ],
      },
    ],
    jobs: [
      ...bursts(random, { count: 1, every: 1, size: 7, from: 60 }),
      ...trickle(random, { from: 5, until: 460, every: 20 }),
    ],
  }),
  single: (random) => ({
    about:
      "one node is launched beside twenty that are full, then these lose most of their pods, and a small pod every 20 s uses the launched node, the emptiest",
    lasts: 480,
    // The small service starts on full nodes, so that each gets one pod; a quarter of the nodes has room for all of it.
    services: [
      { name: "shop", replicas: 20, cpu: "2600m", changes: [{ at: 150, replicas: 0 }] },
      { name: "web", replicas: 0, cpu: "900m", changes: [{ at: 5, replicas: 20 }] },
    ],
    jobs: [
      ...bursts(random, { count: 1, every: 1, size: 1, from: 130 }),
      ...trickle(random, { from: 150, until: 460, every: 20 }),
    ],
  }),
  "half-hour": (random) => ({
    about:
      "half an hour: one job that needs a node of its own every 45 s, and a burst of nine such jobs every seven and a half minutes",
    lasts: 1_800,
    services: [{ name: "web", replicas: 4, cpu: "500m" }],
    jobs: [
      ...bursts(random, { count: 34, every: 45, size: 1, cpu: 3 }),
      ...bursts(random, { count: 4, every: 450, size: 9, cpu: 3, from: 205 }),
    ],
  }),
} as const satisfies Record<string, (random: Random) => Short>;

/** A short trace with the fields that a file's reader would fill in. */
export const wholeTrace = (trace: Short): Trace => ({ daemons: [], drifts: [], interruptions: [], ...trace });

type Bursts = Readonly<{
  count: number;
  every: number;
  size: number;
  runs?: readonly [number, number];
  from?: number;
  cpu?: number;
}>;

function bursts(random: Random, { count, every, size, runs = [12, 20], from = 10, cpu }: Bursts): Job[] {
  return Array.from({ length: count }, (_, burst) =>
    Array.from({ length: size }, (_, i) => {
      const at = from + burst * every + random() * 2;
      return job(random, `${from}-${burst}-${i}`, at, between(random, ...runs), cpu);
    }),
  ).flat();
}

/** Small pods one after the other, as cron jobs bring them. */
const trickle = (random: Random, { from, until, every }: Record<"from" | "until" | "every", number>): Job[] =>
  bursts(random, {
    count: Math.ceil((until - from) / every),
    every,
    size: 1,
    runs: [10, 15],
    from,
    cpu: smallCpu,
  });

/** Poisson arrivals of jobs whose length has a heavy tail. */
function arrivals(random: Random, { until, every }: Readonly<{ until: number; every: number }>): Job[] {
  const jobs: Job[] = [];
  for (let at = 10; at < until; at += exponential(random, every)) {
    jobs.push(job(random, `ci-${jobs.length}`, at, heavyTail(random, { least: 8, most: 150, shape: 1.3 })));
  }
  return jobs;
}

const job = (random: Random, name: string, at: number, runs: number, cpu?: number): Job => ({
  name: `job-${name}`,
  at,
  runs,
  cpu: cpu ?? (random() < 0.5 ? 1 : 2),
  image: `batch-${Math.floor(random() * 3)}`,
});
