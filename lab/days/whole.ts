import { armOf, arms, isAvailable } from "./arms.ts";
import type { Source, Spec } from "./spec.ts";

const named = (name: string): Source => ({ kind: "name", name });

/** Everything that may be chosen; each combination of these is a run, if the version of Karpenter has the arm. */
export type Choice = Readonly<{
  sources: readonly Source[];
  arms: readonly string[];
  karpenter: readonly string[];
  types: readonly string[];
  seeds: readonly number[];
}>;

export function specsOf({ sources, arms: names, karpenter, types, seeds }: Choice): readonly Spec[] {
  return sources.flatMap((source) =>
    types.flatMap((world) =>
      karpenter.flatMap((version) =>
        seeds.flatMap((seed) =>
          names
            .filter((name) => isAvailableIn(name, version))
            .map((arm) => ({ source, arm, karpenter: version, types: world, seed })),
        ),
      ),
    ),
  );
}

const isAvailableIn = (name: string, version: string): boolean => {
  const arm = armOf(name);
  return arm === undefined || isAvailable(arm, version);
};

export const armNames: readonly string[] = arms.map(({ name }) => name);

/**
 * The whole comparison: days on every version; mixed sizes on the newest one and on 1.13, the last in which a node within its
 * `consolidateAfter` may still be filled; a week on the newest one.
 */
export function wholeComparison(versions: readonly string[]): readonly Spec[] {
  const [newest = ""] = versions;
  const different = [newest, ...versions.filter((version) => version.startsWith("1.13."))];
  const chosen = (choice: Partial<Choice>): readonly Spec[] =>
    specsOf({
      sources: [named("day")],
      arms: armNames,
      karpenter: versions,
      types: ["one"],
      seeds: [1, 2, 3],
      ...choice,
    });
  return [
    ...chosen({}),
    ...chosen({ types: ["four"], karpenter: different }),
    ...chosen({ sources: [named("week")], seeds: [1], karpenter: [newest] }),
  ];
}
