import { readFileSync } from "node:fs";
import * as v from "valibot";
import { type Duration, hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { BadInputError } from "../../lambda/core/errors.ts";
import { between, exponential, logNormal, type Random, randomOf, scaleBetween } from "../random.ts";

/** So many nodes were needed from one moment to another; both are the same where only the gaps between bursts matter. */
export type Need = Readonly<{ from: Duration; to: Duration; nodes: number }>;
export type Trace = readonly Need[];

type Place = Readonly<{ index: number; count: number; at: Duration }>;
type Draw = (place: Place) => number;
type Kind = (random: Random) => Readonly<{ gap: Draw; nodes?: Draw }>;

/** Typical gaps, from well below a usual relaunch cost to well above. */
const anyScale = (random: Random) => scaleBetween(random, minutes(1), hours(2));

/** Kinds of work. Each draws the parameters of one trace, then its gaps, and its sizes where they depend on the time. */
const kinds = {
  periodic(random) {
    const period = anyScale(random);
    const jitter = between(random, 0, 0.2);
    return { gap: () => period * (1 + between(random, -jitter, jitter)) };
  },
  Poisson(random) {
    const mean = anyScale(random);
    return { gap: () => exponential(random, mean) };
  },
  "log-normal"(random) {
    const median = anyScale(random);
    const spread = between(random, 0.3, 1.5);
    return { gap: () => logNormal(random, median, spread) };
  },
  bimodal(random) {
    const short = scaleBetween(random, minutes(1), minutes(8));
    const long = scaleBetween(random, minutes(30), hours(10));
    const shortShare = between(random, 0.1, 0.9);
    return { gap: () => logNormal(random, random() < shortShare ? short : long, 0.2) };
  },
  "day and night"(random) {
    const byDay = scaleBetween(random, minutes(1), minutes(30));
    const perDay = Math.floor(between(random, 6, 18));
    const night = between(random, hours(8), hours(12));
    return { gap: ({ index }) => (index % perDay === perDay - 1 ? night : exponential(random, byDay)) };
  },
  "regime change"(random) {
    const change = between(random, 0.3, 0.7);
    const before = { median: anyScale(random), spread: between(random, 0.1, 0.7) };
    const after = { median: anyScale(random), spread: between(random, 0.1, 0.7) };
    const gap: Draw = ({ index, count }) => {
      const { median, spread } = index < change * count ? before : after;
      return logNormal(random, median, spread);
    };
    return { gap };
  },
  "small by day, large at night"(random) {
    const mean = scaleBetween(random, minutes(2), minutes(40));
    const small = 1 + Math.floor(random() * 2);
    const large = 8 + Math.floor(random() * 13);
    const isDay = (at: Duration) => at % hours(24) < hours(16);
    return { gap: () => exponential(random, mean), nodes: ({ at }) => (isDay(at) ? small : large) };
  },
} satisfies Record<string, Kind>;

export type Family = keyof typeof kinds;
export const families = Object.keys(kinds) as readonly Family[];

/** How many nodes bursts need, where that does not depend on the time; it varies in every trace. */
const sizes: readonly ((random: Random) => Draw)[] = [
  (random) => () => 1 + Math.floor(random() * 10),
  (random) => {
    const median = scaleBetween(random, 1, 8);
    return () => Math.max(1, Math.min(64, Math.round(logNormal(random, median, 1))));
  },
  (random) => {
    const [small, large] = [1 + Math.floor(random() * 3), 5 + Math.floor(random() * 25)];
    const largeShare = between(random, 0.05, 0.4);
    return () => (random() < largeShare ? large : small);
  },
];

/** The trace of a family with this number: the same at every run. */
export function traceOf(family: Family, number: number, count: number): Trace {
  const random = randomOf(families.indexOf(family) * 1_000_003 + number * 7_919 + count * 104_729);
  const kind: ReturnType<Kind> = kinds[family](random);
  const nodesOf = kind.nodes ?? (sizes[number % sizes.length] as (typeof sizes)[number])(random);
  const trace: Need[] = [];
  let at = hours(24) * random();
  for (let index = 0; index < count; index++) {
    const place = { index, count, at };
    trace.push({ from: at, to: at, nodes: nodesOf(place) });
    at += Math.max(minutes(1), Math.round(kind.gap(place)));
  }
  return trace;
}

const whole = v.pipe(v.string(), v.regex(/^\d{1,12}$/), v.transform(Number));
const pod = v.object({ scheduled_s: whole, deleted_s: whole, cpu_milli: whole });

/** The nodes that the pods of a file need, packed as tightly as their CPU allows. */
export function traceOfPods(file: string, coresPerNode: number): Trace {
  const [head = "", ...lines] = readFileSync(file, "utf8").trim().split(/\r?\n/);
  const names = head.split(",");
  const changes = new Map<number, number>();
  lines.forEach((line, index) => {
    const read = v.safeParse(pod, Object.fromEntries(line.split(",").map((value, at) => [names[at], value])));
    if (!read.success)
      throw new BadInputError(file, [
        `line ${index + 2} must have whole numbers as scheduled_s, deleted_s and cpu_milli; the first line must name the columns`,
      ]);
    const { scheduled_s, deleted_s, cpu_milli } = read.output;
    for (const [at, change] of [
      [scheduled_s, cpu_milli],
      [deleted_s, -cpu_milli],
    ] as const)
      changes.set(at, (changes.get(at) ?? 0) + change);
  });
  const trace: Need[] = [];
  let milli = 0;
  const times = [...changes.keys()].toSorted((a, b) => a - b);
  times.forEach((at, index) => {
    milli += changes.get(at) ?? 0;
    const need = {
      from: seconds(at),
      to: seconds(times[index + 1] ?? at),
      nodes: Math.ceil(milli / (coresPerNode * 1_000)),
    };
    const last = trace.at(-1);
    if (last?.nodes === need.nodes && last.to === need.from)
      trace[trace.length - 1] = { ...last, to: need.to };
    else if (need.nodes > 0 && need.to > need.from) trace.push(need);
  });
  return trace;
}
