import { armOf } from "../arms.ts";
import type { RunResult } from "../result.ts";
import { armNames } from "../whole.ts";

/** The runs of one arm on the same work, one for each seed. */
export type ArmRuns = Readonly<{ arm: string; runs: readonly RunResult[] }>;

/** The arms that ran the same work, on one version and in one world. */
export type Group = Readonly<{ trace: string; types: string; karpenter: string; arms: readonly ArmRuns[] }>;

/** Results by trace, world and version; the arms in the order of the comparison. */
export function groupsOf(results: readonly RunResult[]): readonly Group[] {
  const keyOf = ({ trace, types, karpenter }: RunResult) => JSON.stringify([trace, types, karpenter]);
  return [...Map.groupBy(results, keyOf).values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const byArm = Map.groupBy(group, ({ arm }) => arm);
    const arms = [...byArm].map(([arm, runs]) => ({ arm, runs }));
    const { trace, types, karpenter } = first;
    return [{ trace, types, karpenter, arms: arms.toSorted((a, b) => placeOf(a.arm) - placeOf(b.arm)) }];
  });
}

const placeOf = (arm: string): number => (armNames.includes(arm) ? armNames.indexOf(arm) : armNames.length);

export const isHolder = (arm: string): boolean => armOf(arm)?.holder !== undefined;

export const seedsOf = ({ arms }: Group): readonly number[] =>
  [...new Set(arms.flatMap(({ runs }) => runs.map(({ seed }) => seed)))].toSorted((a, b) => a - b);

export const meanOf = (runs: readonly RunResult[], of: (run: RunResult) => number): number =>
  runs.reduce((sum, run) => sum + of(run), 0) / runs.length;

/** Half of the distance between the largest and the smallest value. */
export const spreadOf = (values: readonly number[]): number =>
  (Math.max(...values) - Math.min(...values)) / 2;
