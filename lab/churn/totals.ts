import { minutes } from "../../lambda/core/duration.ts";
import { markdownTable } from "../../scripts/markdown-table.ts";
import type { Archived } from "./archive.ts";
import { armNames, relaunchCost } from "./arms.ts";
import { type Figures, figuresOf } from "./figures.ts";

/** The cost of an evicted service pod, in node-minutes. */
const evictionCost = 10;

/** The cost of a trace in node-minutes, including its launches and evictions. */
export const costOf = ({ nodeMinutes, launched, servicePodsEvicted }: Figures): number =>
  nodeMinutes + (relaunchCost / minutes(1)) * launched + evictionCost * servicePodsEvicted;

/** The cost of each arm over all traces that both it and `auto` ran with the same seeds, and the cost of `auto` there. */
export function totals(archived: readonly Archived[]): readonly string[] {
  const keyOf = ({ record }: Archived) => `${record.trace} ${record.seed}`;
  const byArm = Map.groupBy(archived, ({ record }) => record.arm);
  const auto = new Map((byArm.get("auto") ?? []).map((one) => [keyOf(one), one]));
  const rows = armNames.flatMap((arm) => {
    const shared = (byArm.get(arm) ?? []).filter((one) => auto.has(keyOf(one)));
    if (arm === "auto" || shared.length === 0) return [];
    const beside = shared.flatMap((one) => auto.get(keyOf(one)) ?? []);
    const [theirs, ours] = [sum(shared), sum(beside)];
    const traces = [...new Set(shared.map(({ record }) => record.trace))].join(", ");
    return [[`\`${arm}\``, traces, theirs.toFixed(0), ours.toFixed(0), (ours / theirs).toFixed(2)]];
  });
  if (rows.length === 0) return [];
  return [
    "### All traces together, and a hold that learns",
    `Node-minutes, and for each launched node ${relaunchCost / minutes(1)} and for each evicted service pod ${evictionCost} more. Each row compares \`auto\` on the traces and seeds that both arms have run.`,
    markdownTable(["Arm", "Traces", "its cost", "cost of `auto`", "ratio"], rows, [2, 3, 4]),
  ];
}

const sum = (archived: readonly Archived[]): number =>
  archived.reduce((total, { record }) => total + costOf(figuresOf(record)), 0);
