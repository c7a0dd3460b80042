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

/** Karpenter's own settings that came closest to the holder, and the holder. */
const strongest = ["budget-hourly", "budget-every-30m", "auto"];
const rivalsOfWork = ["consolidate-after-5m", "auto-evictions", ...strongest];
const rivals = ["hold-20m", ...rivalsOfWork];

/**
 * The whole comparison: a day with every arm on the newest version, and with the strongest ones on two more seeds and on
 * 1.13 (the last in which a node within its `consolidateAfter` may still be filled); the strongest on mixed sizes, on two
 * families and on all versions; single kinds of work, and a week.
 */
export function wholeComparison(versions: readonly string[]): readonly Spec[] {
  const [newest = ""] = versions;
  const before = versions.filter((version) => version.startsWith("1.13."));
  const others = versions.filter((version) => version !== newest && !before.includes(version));
  const chosen = (choice: Partial<Choice>): readonly Spec[] =>
    specsOf({
      sources: [named("day")],
      arms: rivals,
      karpenter: [newest],
      types: ["one"],
      seeds: [1, 2, 3],
      ...choice,
    });
  return [
    ...chosen({ arms: armNames, seeds: [1] }),
    ...chosen({ seeds: [2, 3] }),
    ...chosen({ karpenter: before }),
    ...chosen({ types: ["four", "families"], karpenter: [newest, ...before], arms: strongest }),
    ...chosen({ karpenter: others, arms: strongest }),
    ...chosen({ sources: ["bursts", "ci", "shrinking"].map(named), arms: rivalsOfWork }),
    ...chosen({ sources: [named("week")], seeds: [1], arms: strongest }),
  ];
}
