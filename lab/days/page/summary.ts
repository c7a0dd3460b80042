import { markdownTable } from "../../../scripts/markdown-table.ts";
import { nodeTime, usualWeights } from "../cost.ts";
import { cheapestOwn, compare } from "./compare.ts";
import { type ArmRuns, type Group, meanOf, seedsOf } from "./groups.ts";
import { whole } from "./table.ts";

/** What the README shows: a usual setting, the strongest rivals, and the holder with a constant hold and with `auto`. */
const shown: Readonly<Record<string, string>> = {
  "consolidate-after-5m": "`consolidateAfter: 5m`",
  "budget-hourly": "a budget that opens each hour",
  "budget-every-30m": "a budget that opens each half hour",
  "hold-20m": "node holder, `hold=20m`",
  auto: "**node holder, `hold=auto`**",
};

/** The groups of the picture in a small table: means over the seeds, the cost against the best of Karpenter's own. */
export function summaryOf(groups: readonly Group[]): string {
  const lines = groups.flatMap((group) => {
    const best = cheapestOwn(group, usualWeights);
    const order = Object.keys(shown);
    return group.arms
      .filter(({ arm }) => shown[arm] !== undefined)
      .toSorted((a, b) => order.indexOf(a.arm) - order.indexOf(b.arm))
      .map((arm) => lineOf(arm, group.karpenter, best));
  });
  const seeds = new Set(groups.flatMap(seedsOf));
  const head = ["Karpenter", "", "Pods evicted", "Jobs killed", "Node time", "Cost"];
  return [
    markdownTable(head, lines, [2, 3, 4, 5]),
    `A day of changing work, the mean of ${seeds.size === 1 ? "one day" : `${seeds.size} days`}. Node time is in minutes of a node of 8 cores; the cost adds 5 for each launch and 3 for each evicted pod or killed job, and is shown against the best of Karpenter's own settings.`,
  ].join("\n\n");
}

function lineOf(ours: ArmRuns, karpenter: string, best: ArmRuns | undefined): readonly string[] {
  const { arm, runs } = ours;
  return [
    karpenter.replace(/\.\d+$/, ""),
    shown[arm] ?? arm,
    whole(meanOf(runs, ({ evicted }) => evicted)),
    whole(meanOf(runs, ({ jobsKilled }) => jobsKilled)),
    whole(meanOf(runs, nodeTime)),
    (best && compare(ours, best, usualWeights)?.ratio.toFixed(2)) ?? "–",
  ];
}
