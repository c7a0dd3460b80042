import { between, type Random } from "../../random.ts";
import type { Job, Service, Trace } from "./trace.ts";
import {
  arrivals,
  autoscaled,
  builds,
  cron,
  curveAt,
  day,
  heavyTail,
  hour,
  isWorkday,
  minute,
  ordered,
  rollouts,
  rounded,
} from "./work.ts";

type Scaled = Readonly<{
  name: string;
  least: number;
  most: number;
  noise: number;
  perDay: number;
}> &
  Omit<Service, "replicas" | "changes">;

/** Services that follow the day. At the peak they are some 130 pods that request 90 cores. */
const scaled: readonly Scaled[] = [
  { name: "web", least: 7, most: 44, cpu: "400m", memory: "768Mi", noise: 0.1, perDay: 3, starts: 8 },
  {
    name: "api",
    least: 5,
    most: 32,
    cpu: "600m",
    memory: "1Gi",
    noise: 0.1,
    perDay: 2,
    starts: 15,
    pdb: { maxUnavailable: 3 },
  },
  {
    name: "search",
    least: 4,
    most: 14,
    cpu: "1200m",
    memory: "4Gi",
    noise: 0.06,
    perDay: 0.7,
    starts: 40,
    pdb: { maxUnavailable: 1 },
  },
  {
    name: "checkout",
    least: 3,
    most: 10,
    cpu: "800m",
    memory: "2Gi",
    noise: 0.08,
    perDay: 1,
    starts: 20,
    pdb: { minAvailable: 2 },
  },
  { name: "worker", least: 2, most: 18, cpu: "700m", memory: "1536Mi", noise: 0.35, perDay: 1, starts: 5 },
  {
    name: "reports",
    least: 1,
    most: 8,
    cpu: "1500m",
    memory: "8Gi",
    noise: 0.3,
    perDay: 0.5,
    starts: 10,
    pool: "memory",
  },
];

/** Services whose size does not change. */
const steady: readonly Service[] = [
  { name: "admin", replicas: 2, cpu: "250m", memory: "512Mi", starts: 5 },
  { name: "gateway", replicas: 3, cpu: "500m", memory: "512Mi", starts: 5, pdb: { maxUnavailable: 1 } },
  {
    name: "cache",
    replicas: 4,
    cpu: "1",
    memory: "12Gi",
    pool: "memory",
    starts: 30,
    spread: true,
    pdb: { maxUnavailable: 1 },
  },
  { name: "ledger", replicas: 2, cpu: "1", memory: "4Gi", starts: 30, doNotDisrupt: true },
];

/**
 * The NodePool of all other work. It is named: Karpenter launches nodes for pods that choose none in the last NodePool by
 * name, and all work would share the nodes of the other one, which in a cluster a taint keeps apart.
 */
const general = "default";

const daemons: Trace["daemons"] = [
  { name: "log-agent", cpu: "100m", memory: "192Mi" },
  { name: "node-agent", cpu: "50m", memory: "96Mi" },
];

/** Nodes that the cloud takes back, a second. */
const interrupted = 1.5 / day;

/** A number of whole days from a Monday on, with everything that a cluster of some twenty nodes of eight cores runs. */
function days(random: Random, count: number, about: string, isDrifted: boolean): Trace {
  const until = count * day;
  // No two days are equally busy.
  const busy = Array.from({ length: count }, () => between(random, 0.88, 1.08));
  const load = (at: number) => curveAt(at) * (busy[Math.floor(at / day)] ?? 1);
  const services = scaled.map(({ least, most, noise, perDay, ...pod }): Service => {
    const { replicas, changes } = autoscaled(random, { until, least, most, load, noise });
    const versions = rollouts(random, { until, perDay });
    return { ...pod, replicas, surge: 0.25, changes: ordered([...changes, ...versions]) };
  });
  const placed = <W extends Service | Job>(work: W): W => ({ pool: general, ...work });
  return {
    about,
    lasts: until,
    services: [...services, ...steady].map(placed),
    jobs: jobsOf(random, until).map(placed),
    daemons,
    drifts: isDrifted ? [{ at: Math.floor(count / 2) * day + 13 * hour }] : [],
    interruptions: arrivals(random, { until, most: interrupted, rate: () => interrupted }).map((at) => ({
      at,
      count: 1,
    })),
  };
}

function jobsOf(random: Random, until: number): Job[] {
  const ci = builds(random, {
    until,
    perHour: 4,
    size: [3, 30],
    load: (at) => (isWorkday(at) ? Math.max(0.08, curveAt(at - hour)) : 0.06),
  });
  const regular = { until, cpu: 0.1, memory: "128Mi" };
  const crons = [
    cron(random, { ...regular, name: "cron-1m", every: minute, runs: [5, 25] }),
    cron(random, {
      ...regular,
      name: "cron-5m",
      every: 5 * minute,
      runs: [15, 90],
      cpu: 0.25,
      memory: "256Mi",
    }),
    cron(random, {
      ...regular,
      name: "cron-15m",
      every: 15 * minute,
      runs: [30, 240],
      cpu: 0.5,
      memory: "512Mi",
    }),
    cron(random, { ...regular, name: "cron-1h", every: hour, runs: [120, 600], cpu: 1, memory: "2Gi" }),
  ];
  return [...ci, ...crons.flat(), ...nightly(random, until)].toSorted((a, b) => a.at - b.at);
}

/** About forty jobs at once, every night at about half past one; some of them may not be disrupted. */
function nightly(random: Random, until: number): Job[] {
  return Array.from({ length: Math.floor(until / day) }, (_, night) => {
    const begin = night * day + 90 * minute + between(random, 0, 10 * minute);
    return Array.from({ length: Math.round(between(random, 36, 44)) }, (_, i): Job => {
      const isLarge = i % 8 === 7;
      return {
        name: `nightly-${night}-${i}`,
        at: rounded(begin + random() * 20),
        runs: rounded(heavyTail(random, { least: 4 * minute, most: hour, shape: 1.3 })),
        ...(isLarge
          ? { cpu: 2, memory: "12Gi", pool: "memory" }
          : { cpu: random() < 0.5 ? 1 : 2, memory: "3Gi" }),
        ...(i % 16 === 3 && { doNotDisrupt: true }),
        image: "nightly",
      };
    });
  }).flat();
}

const work =
  "services that an autoscaler fits to the day's load every few minutes and that roll out now and then, CI bursts, cron jobs, a nightly batch of about 40 jobs";

/** One working day. With an even seed all nodes drift at one o'clock in the afternoon. */
export const oneDay = (random: Random, seed: number): Trace =>
  days(
    random,
    1,
    `a day of a cluster of about 20 nodes of 8 cores: ${work}${seed % 2 === 0 ? "; all nodes drift at 13:00" : ""}`,
    seed % 2 === 0,
  );

/** Five working days and a weekend. All nodes drift once. */
export const oneWeek = (random: Random): Trace =>
  days(random, 7, `a week with its weekend: each day has ${work}; all nodes drift once`, true);
