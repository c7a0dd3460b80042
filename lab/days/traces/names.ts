import { type Random, randomOf } from "../../random.ts";
import { oneDay, oneWeek } from "./days.ts";
import { bursts, ci, quiet, shrinking } from "./kinds.ts";
import { short, wholeTrace } from "./short.ts";
import type { Trace } from "./trace.ts";

type Generator = (random: Random, seed: number) => Trace;

const shortOnes = Object.entries(short).map(([name, make]): [string, Generator] => [
  name,
  (random) => wholeTrace(make(random)),
]);

/** Every trace that can be named instead of a file. */
export const generators: ReadonlyMap<string, Generator> = new Map<string, Generator>([
  ["day", oneDay],
  ["week", oneWeek],
  ["bursts", bursts],
  ["ci", ci],
  ["quiet", quiet],
  ["shrinking", shrinking],
  ...shortOnes,
]);

/** The named trace: the same for the same seed, on any machine. */
export function traceOf(name: string, seed: number): Trace {
  const generator = generators.get(name);
  if (!generator) throw new Error(`there is no trace ${name}`);
  return generator(randomOf(seed), seed);
}
