import { minutes } from "../../lambda/core/duration.ts";
import { markdownTable } from "../../scripts/markdown-table.ts";
import type { Archived } from "./archive.ts";
import { type ArmName, armNames, relaunchCost } from "./arms.ts";
import { type Figures, figuresOf } from "./figures.ts";

/** The cost of an evicted service pod, in node-minutes. */
const evictionCost = 10;

/** The cost of a trace in node-minutes, including its launches and evictions. */
export const costOf = ({ nodeMinutes, launched, servicePodsEvicted }: Figures): number =>
  nodeMinutes + (relaunchCost / minutes(1)) * launched + evictionCost * servicePodsEvicted;

/** Each arm beside `consolidateAfter`, with Karpenter 1.13 as well, and beside the holder with a short one, over all traces and seeds that both have run. */
export function totals(archived: readonly Archived[]): readonly string[] {
  return (["consolidate-after", "consolidate-after-1.13", "holder-30s"] as const).flatMap((base) =>
    against(base, archived),
  );
}

function against(base: ArmName, archived: readonly Archived[]): readonly string[] {
  const keyOf = ({ record }: Archived) => `${record.trace} ${record.seed}`;
  const byArm = Map.groupBy(archived, ({ record }) => record.arm);
  const bases = new Map((byArm.get(base) ?? []).map((one) => [keyOf(one), one]));
  const rows = armNames.flatMap((arm) => {
    const shared = (byArm.get(arm) ?? []).filter((one) => bases.has(keyOf(one)));
    if (arm === base || shared.length === 0) return [];
    const beside = shared.flatMap((one) => bases.get(keyOf(one)) ?? []);
    const both = (of: (figures: Figures) => number) => [sum(shared, of), sum(beside, of)] as const;
    const [ours, theirs] = both(costOf);
    const shown = [...measures.map(both), [ours, theirs]].map((pair) =>
      pair.map((value) => value?.toFixed(0)).join(" / "),
    );
    return [[`\`${arm}\``, `${shared.length}`, ...shown, (ours / theirs).toFixed(2)]];
  });
  if (rows.length === 0) return [];
  return [
    `### All traces together, against \`${base}\``,
    `Each arm / \`${base}\`, on the traces and seeds that both have run. The cost is node-minutes, and for each launched node ${relaunchCost / minutes(1)} and for each evicted service pod ${evictionCost} more.`,
    markdownTable(
      ["Arm", "runs", "node-minutes", "nodes launched", "service pods evicted", "cost", "ratio"],
      rows,
      [1, 2, 3, 4, 5, 6],
    ),
  ];
}

const measures: readonly ((figures: Figures) => number)[] = [
  ({ nodeMinutes }) => nodeMinutes,
  ({ launched }) => launched,
  ({ servicePodsEvicted }) => servicePodsEvicted,
];

const sum = (archived: readonly Archived[], of: (figures: Figures) => number): number =>
  archived.reduce((total, { record }) => total + of(figuresOf(record)), 0);
