import { markdownTable } from "../../../scripts/markdown-table.ts";
import { allWeights, costOf, nodeTime, usualWeights, weightsName } from "../cost.ts";
import type { RunResult } from "../result.ts";
import { type Group, groupsOf, meanOf, seedsOf, spreadOf } from "./groups.ts";

export const whole = (value: number): string => value.toLocaleString("en", { maximumFractionDigits: 0 });

type Column = readonly [title: string, of: (run: RunResult) => number, write: (value: number) => string];

const columns: readonly Column[] = [
  ["launches", ({ launched }) => launched, whole],
  ["node time", nodeTime, whole],
  ["pods evicted", ({ evicted }) => evicted, whole],
  ["jobs killed", ({ jobsKilled }) => jobsKilled, whole],
  ["dollars", ({ price }) => price, whole],
  ["wait, mean (s)", ({ waitMean }) => waitMean, (value) => value.toFixed(1)],
  ["wait, 95th (s)", ({ wait95 }) => wait95, whole],
  ...allWeights.map(
    (weights): Column => [`cost ${weightsName(weights)}`, (run) => costOf(run, weights), whole],
  ),
];

/** Where nothing is needed the least is nothing, and there is no multiple of it. */
const ratio = (value: number): string => (Number.isFinite(value) ? value.toFixed(2) : "–");

/** The table of one group, with means over the seeds. */
export function tableOf(group: Group): string {
  const seeds = seedsOf(group).length;
  const spread = seeds > 1 ? [`± ${weightsName(usualWeights)}`] : [];
  const head = ["Arm", ...columns.map(([title]) => title), ...spread, "of the least"];
  const rows = group.arms.map(({ arm, runs }) => [
    `\`${arm}\`${runs.length < seeds ? ` (${runs.length} of ${seeds} seeds)` : ""}`,
    ...columns.map(([, of, write]) => write(meanOf(runs, of))),
    ...spread.map(() =>
      runs.length > 1 ? whole(spreadOf(runs.map((run) => costOf(run, usualWeights)))) : "–",
    ),
    ratio(meanOf(runs, timesLeast)),
  ]);
  return markdownTable(head, rows, head.map((_, i) => i).slice(1));
}

/** The cost with the usual weights, as a multiple of the least possible. */
export function timesLeast(run: RunResult): number {
  const { launch, eviction } = usualWeights;
  const bound = run.bounds.find((one) => one.launch === launch && one.eviction === eviction);
  return costOf(run, usualWeights) / (bound?.cost ?? Number.NaN);
}

export const titleOfGroup = (group: Group): string => {
  const seeds = seedsOf(group);
  return `\`${group.trace}\`, types \`${group.types}\`, Karpenter ${group.karpenter}, ${seeds.length === 1 ? "seed" : "seeds"} ${seeds.join(", ")}`;
};

/** All groups, each below its title. */
export const tablesOf = (results: readonly RunResult[], heading = ""): string =>
  groupsOf(results)
    .map((group) => `${heading}${titleOfGroup(group)}\n\n${tableOf(group)}`)
    .join("\n\n");
