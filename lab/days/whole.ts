import { arms, isAvailable } from "./arms.ts";
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
            .filter((name) => isAvailable(name, version))
            .map((arm) => ({ source, arm, karpenter: version, types: world, seed })),
        ),
      ),
    ),
  );
}

export const armNames: readonly string[] = arms.map(({ name }) => name);

/** Karpenter's own settings that came closest to the holder, and the holder. */
const strongest = ["budget-hourly", "budget-every-30m", "auto"];
/** Those, and what the README shows beside them. */
const shown = ["consolidate-after-5m", "hold-20m", ...strongest];

/**
 * The whole comparison, of about an hour on two cores. Every arm is played once, on the newest version. What is shown
 * first is played on three seeds, and on 1.13, the last version in which a node within its `consolidateAfter` may still be
 * filled: there evictions are most, so a higher price for them is played, too. Only the strongest are played on mixed
 * sizes and two families, on each other version, on single kinds of work, and for a week.
 */
export function wholeComparison(versions: readonly string[]): readonly Spec[] {
  const [newest = ""] = versions;
  const before = versions.filter((version) => version.startsWith("1.13."));
  const others = versions.filter((version) => version !== newest && !before.includes(version));
  const chosen = (choice: Partial<Choice>): readonly Spec[] =>
    specsOf({
      sources: [named("day")],
      arms: strongest,
      karpenter: [newest],
      types: ["one"],
      seeds: [1, 2, 3],
      ...choice,
    });
  return [
    ...chosen({ arms: armNames, seeds: [1] }),
    ...chosen({ arms: shown, seeds: [2, 3] }),
    ...chosen({ arms: [...shown, "auto-evictions"], karpenter: before }),
    ...chosen({ types: ["four", "families"], seeds: [1, 2] }),
    ...chosen({ karpenter: others, seeds: [1] }),
    ...chosen({ sources: ["bursts", "ci", "shrinking"].map(named) }),
    ...chosen({ sources: [named("week")], seeds: [1] }),
  ];
}
