/** A piece of batch work: when it comes, how long it runs and what it wants; all times in told minutes. */
export type Job = Readonly<{ name: string; at: number; lasts: number; cpu: number; image: string }>;

/** Something that always runs, and suffers when its pods are moved. */
export type Service = Readonly<{ name: string; replicas: number; cpu: string }>;

export type Workload = Readonly<{ services: readonly Service[]; jobs: readonly Job[] }>;

/** Busy spells as shares of the whole time: between them and at the end it is quiet for longer than a hold. */
const busy = [
  [0.04, 0.34],
  [0.61, 0.76],
] as const;

/** The same bursts for the same seed, however often and on whatever machine. */
export function bursts(seed: number, minutes: number): Workload {
  const random = randomFrom(seed);
  const between = (low: number, high: number) => low + random() * (high - low);
  const jobs: Job[] = [];
  for (const [from, to] of busy) {
    for (let at = from * minutes; at < to * minutes; at += between(4, 7)) {
      const image = `batch-${Math.floor(between(1, 4))}`;
      const count = Math.round(between(6, 14));
      for (let i = 0; i < count; i++) {
        const name = `job-${jobs.length + 1}`;
        jobs.push({
          name,
          image,
          at: at + between(0, 0.7),
          lasts: between(1, 3),
          cpu: random() < 0.5 ? 1 : 2,
        });
      }
    }
  }
  return { services, jobs: jobs.toSorted((a, b) => a.at - b.at) };
}

const services: readonly Service[] = [
  { name: "web", replicas: 4, cpu: "500m" },
  { name: "api", replicas: 3, cpu: "700m" },
  { name: "search", replicas: 2, cpu: "900m" },
  { name: "queue", replicas: 3, cpu: "300m" },
  { name: "mail", replicas: 2, cpu: "300m" },
];

/** Mulberry32: small, and the same everywhere. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
