import { between, exponential, normal, type Random } from "../../random.ts";
import type { Change, Job } from "./trace.ts";

/** Building blocks of traces; times in seconds. */

export const minute = 60;
export const hour = 60 * minute;
export const day = 24 * hour;

/** Short enough to be read in a file. */
export const rounded = (seconds: number): number => Math.round(seconds * 10) / 10;

/** How busy people keep a service, from 0 to 1, by the hour of the day; between the hours it is a line. */
const busyness = [
  0.2, 0.12, 0.08, 0.06, 0.06, 0.1, 0.22, 0.42, 0.68, 0.86, 0.95, 0.98, 0.88, 0.92, 1, 0.98, 0.93, 0.86, 0.8,
  0.78, 0.74, 0.62, 0.45, 0.3,
];

/** The day curve at a time; Saturdays and Sundays are quieter. The trace begins on a Monday at midnight. */
export function curveAt(at: number): number {
  const hourOfDay = (at % day) / hour;
  const [from, to] = [Math.floor(hourOfDay), (Math.floor(hourOfDay) + 1) % 24];
  const [low = 0, high = 0] = [busyness[from], busyness[to]];
  const level = low + (high - low) * (hourOfDay - from);
  const dayOfWeek = Math.floor(at / day) % 7;
  return level * (dayOfWeek === 5 ? 0.45 : dayOfWeek === 6 ? 0.35 : 1);
}

export const isWorkday = (at: number): boolean => Math.floor(at / day) % 7 < 5;

export type Load = Readonly<{
  until: number;
  /** Replicas at no load and at full load. */
  least: number;
  most: number;
  /** The load from 0 to 1, before the noise. */
  load: (at: number) => number;
  /** The noise's size, as a share of the load. */
  noise: number;
}>;

/**
 * What an autoscaler does: every few minutes it computes the replicas of the present load, ignores differences of less than a
 * tenth, grows at once, and shrinks to the most of the last five minutes.
 */
export function autoscaled(random: Random, { until, least, most, load, noise }: Load) {
  let drift = 0;
  const wanted = (at: number): number => {
    // Noise that lasts for some steps, as the load of people does.
    drift = 0.7 * drift + 0.71 * noise * normal(random);
    const level = Math.max(0, Math.min(1.15, load(at) * (1 + drift)));
    return Math.max(least, Math.round(least + (most - least) * level));
  };
  const replicas = wanted(0);
  const changes: Change[] = [];
  const recent: { at: number; wanted: number }[] = [];
  let present = replicas;
  for (let at = between(random, 30, 240); at < until; at += between(random, 2 * minute, 5 * minute)) {
    recent.push({ at, wanted: wanted(at) });
    while ((recent[0]?.at ?? at) < at - 5 * minute) recent.shift();
    const latest = recent.at(-1)?.wanted ?? present;
    const target = latest > present ? latest : Math.max(...recent.map((one) => one.wanted));
    if (Math.abs(target - present) < 0.1 * present || target === present) continue;
    present = target;
    changes.push({ at: rounded(at), replicas: target });
  }
  return { replicas, changes };
}

/** Changes in the order of their time. */
export const ordered = (changes: readonly Change[]): Change[] => changes.toSorted((a, b) => a.at - b.at);

/** New versions in working hours, at random. */
export function rollouts(random: Random, { until, perDay }: Readonly<{ until: number; perDay: number }>) {
  const times = arrivals(random, {
    until,
    most: perDay / (9 * hour),
    rate: (at) => (isWorkday(at) && at % day >= 9 * hour && at % day < 18 * hour ? perDay / (9 * hour) : 0),
  });
  return times.map((at): Change => ({ at }));
}

type Arrivals = Readonly<{ until: number; rate: (at: number) => number; most: number }>;

/** Times at random whose rate changes, a Poisson process; `most` is the highest rate, in events a second. */
export function arrivals(random: Random, { until, rate, most }: Arrivals): readonly number[] {
  const times: number[] = [];
  if (most <= 0) return times;
  for (let at = exponential(random, 1 / most); at < until; at += exponential(random, 1 / most)) {
    if (random() < rate(at) / most) times.push(rounded(at));
  }
  return times;
}

type HeavyTail = Readonly<{ least: number; most: number; shape: number }>;

/** Mostly near the least, now and then very much more (Pareto, cut off at the most). */
export const heavyTail = (random: Random, { least, most, shape }: HeavyTail): number =>
  Math.min(most, least / (1 - random()) ** (1 / shape));

type Cron = Readonly<{
  name: string;
  every: number;
  until: number;
  runs: readonly [least: number, most: number];
  cpu: number;
  memory: string;
}>;

/** A job at regular times, some of which take longer than others. */
export function cron(random: Random, { name, every, until, runs, ...pod }: Cron): readonly Job[] {
  const jobs: Job[] = [];
  // Cron jobs of one minute do not start in the same second.
  const late = random() * 5;
  for (let at = every; at < until; at += every) {
    const took = rounded(between(random, ...runs));
    jobs.push({ name: `${name}-${jobs.length}`, at: rounded(at + late), runs: took, image: name, ...pod });
  }
  return jobs;
}

type BuildLoad = Readonly<{
  until: number;
  /** Bursts an hour when it is busiest. */
  perHour: number;
  load: (at: number) => number;
  /** The size of most bursts, and of the largest. */
  size: readonly [least: number, most: number];
}>;

/** Bursts of CI jobs: a push starts some jobs within half a minute; few bursts are large, and few jobs are long. */
export function builds(random: Random, { until, perHour, load, size }: BuildLoad): Job[] {
  const most = perHour / hour;
  const pushes = arrivals(random, { until, most, rate: (at) => most * load(at) });
  return pushes.flatMap((push, number) => {
    const [least, largest] = size;
    const count = Math.round(heavyTail(random, { least, most: largest, shape: 1.2 }));
    return Array.from({ length: count }, (_, i): Job => {
      const cpu = [1, 1, 2, 2, 4][Math.floor(random() * 5)] ?? 1;
      const runs = rounded(heavyTail(random, { least: 45, most: 45 * minute, shape: 1.1 }));
      const at = rounded(Math.min(until - 1, push + random() * 30));
      const memory = `${2 * cpu}Gi`;
      return { name: `ci-${number}-${i}`, at, runs, cpu, memory, image: `ci-${Math.floor(random() * 6)}` };
    });
  });
}
