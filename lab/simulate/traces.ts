import { type Duration, hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { between, exponential, logNormal, type Random, randomOf, scaleBetween } from "../random.ts";

/** One burst: how many nodes it used, and how long they were idle before the next burst needed them. */
export type Burst = Readonly<{ nodes: number; gap: Duration }>;

/** Draws one burst after the other: first its nodes, then its gap; an adversary knows how long the nodes are held. */
export type Trace = Readonly<{ nextNodes(): number; nextGap(held: Duration): Duration }>;

type Place = Readonly<{ index: number; count: number; held: Duration }>;
type Gaps = (place: Place) => Duration;

const shortest = minutes(1);
/** Typical gaps, from well below a usual relaunch cost to well above. */
const anyScale = (random: Random) => scaleBetween(random, minutes(1), hours(2));

/** Kinds of work. Each draws the parameters of one trace; the function it returns draws the gaps. */
const kinds = {
  periodic(random) {
    const period = anyScale(random);
    const jitter = between(random, 0, 0.2);
    return () => period * (1 + between(random, -jitter, jitter));
  },
  Poisson(random) {
    const mean = anyScale(random);
    return () => exponential(random, mean);
  },
  "log-normal"(random) {
    const median = anyScale(random);
    const spread = between(random, 0.3, 1.5);
    return () => logNormal(random, median, spread);
  },
  bimodal(random) {
    const short = scaleBetween(random, minutes(1), minutes(8));
    const long = scaleBetween(random, minutes(30), hours(10));
    const shortShare = between(random, 0.1, 0.9);
    return () => logNormal(random, random() < shortShare ? short : long, 0.2);
  },
  "day and night"(random) {
    const byDay = scaleBetween(random, minutes(1), minutes(30));
    const perDay = Math.floor(between(random, 6, 18));
    const night = between(random, hours(8), hours(12));
    return ({ index }) => (index % perDay === perDay - 1 ? night : exponential(random, byDay));
  },
  "regime change"(random) {
    const change = between(random, 0.3, 0.7);
    const before = { median: anyScale(random), spread: between(random, 0.1, 0.7) };
    const after = { median: anyScale(random), spread: between(random, 0.1, 0.7) };
    return ({ index, count }) => {
      const { median, spread } = index < change * count ? before : after;
      return logNormal(random, median, spread);
    };
  },
  /** Knows how long the nodes are held: comes back a second too late, always or mixed with long absences. */
  adversarial(random) {
    const tooLate = between(random, 0.3, 1);
    return ({ held }) => (random() < tooLate ? held + seconds(1) : hours(10));
  },
} satisfies Record<string, (random: Random) => Gaps>;

export type Family = keyof typeof kinds;
export const families = Object.keys(kinds) as readonly Family[];
/** Families whose gaps do not depend on the rule. */
export const natural: readonly Family[] = families.filter((family) => family !== "adversarial");

/** The trace of a family with this number: the same at every run. */
export function traceOf(family: Family, number: number, count: number): Trace {
  const random = randomOf(families.indexOf(family) * 1_000_003 + number * 7_919 + count * 104_729);
  const gaps = kinds[family](random);
  const nextNodes = sizesOf(random);
  let index = 0;
  const nextGap = (held: Duration) => {
    const gap = gaps({ index, count, held });
    index += 1;
    return Math.max(shortest, Math.round(gap));
  };
  return { nextNodes, nextGap };
}

/** Half of the traces have bursts of one size, the others of any size from 1 to 10. */
function sizesOf(random: Random): () => number {
  const any = () => 1 + Math.floor(random() * 10);
  const fixed = any();
  return random() < 0.5 ? () => fixed : any;
}
