import { markdownTable } from "../../../scripts/markdown-table.ts";
import { costOf, usualWeights, type Weights, weightsName } from "../cost.ts";
import { cheapestOwn, compare, type Ratio } from "./compare.ts";
import { type ArmRuns, type Group, isHolder, meanOf } from "./groups.ts";
import { whole } from "./table.ts";

const dearEvictions: Weights = { launch: 5, eviction: 10 };

type Row = Readonly<{
  group: Group;
  best: ArmRuns;
  /** Each arm of the holder against the best of Karpenter's own, with the usual weights and with dear evictions. */
  holders: readonly Readonly<{ arm: string; usual: Ratio; dear: Ratio | undefined }>[];
}>;

/** The verdict in words and a table: what the holder's arms cost against the best that Karpenter can do by itself. */
export function verdictOf(groups: readonly Group[]): readonly string[] {
  const rows = groups.flatMap(rowOf);
  if (rows.length === 0) return ["No work was run both with the holder and without it."];
  return [inWords(rows), bestOwn(rows), inFigures(rows), killed(rows)];
}

function rowOf(group: Group): readonly Row[] {
  const best = cheapestOwn(group, usualWeights);
  const bestOfDear = cheapestOwn(group, dearEvictions);
  if (!best || !bestOfDear) return [];
  const holders = group.arms
    .filter(({ arm }) => isHolder(arm))
    .flatMap((one) => {
      const usual = compare(one, best, usualWeights);
      return usual ? [{ arm: one.arm, usual, dear: compare(one, bestOfDear, dearEvictions) }] : [];
    });
  return holders.length > 0 ? [{ group, best, holders }] : [];
}

const placeName = ({ trace, types, karpenter }: Group): string =>
  `\`${trace}\`, \`${types}\`, Karpenter ${karpenter}`;

/** One sentence for each arm of the holder, the cheapest first. */
function inWords(rows: readonly Row[]): string {
  const arms = [...new Set(rows.flatMap(({ holders }) => holders.map(({ arm }) => arm)))];
  const sentences = arms
    .map((arm) => {
      const found = rows.flatMap(({ group, holders }) =>
        holders.filter((one) => one.arm === arm).map(({ usual }) => ({ group, ...usual })),
      );
      const mean = found.reduce((sum, { ratio }) => sum + ratio, 0) / found.length;
      return { arm, mean, found };
    })
    .toSorted((a, b) => a.mean - b.mean)
    .map(({ arm, mean, found }) => {
      const of = (verdict: Ratio["verdict"]) => found.filter((one) => one.verdict === verdict);
      const [worst] = found.toSorted((a, b) => b.ratio - a.ratio);
      const loses =
        worst && worst.verdict === "more"
          ? `; at worst ${worst.ratio.toFixed(2)} times (${placeName(worst.group)})`
          : "";
      return `- **\`${arm}\` costs ${mean.toFixed(2)} times the best of Karpenter's own settings** in the mean: less in ${of("less").length}, more in ${of("more").length}, no difference in ${of("no difference").length} of ${found.length} comparisons${loses}.`;
    });
  return sentences.join("\n");
}

function bestOwn(rows: readonly Row[]): string {
  const counts = Map.groupBy(rows, ({ best }) => best.arm);
  const names = [...counts]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([arm, found]) => `\`${arm}\` in ${found.length}`);
  return `The best of Karpenter's own settings was ${names.join(", ")} of ${rows.length} comparisons. A comparison is one kind of work, one set of node sizes and one version of Karpenter. It counts as different only if the difference is larger than that between seeds, and than what chance does.`;
}

function inFigures(rows: readonly Row[]): string {
  const arms = [...new Set(rows.flatMap(({ holders }) => holders.map(({ arm }) => arm)))];
  const [usual, dear] = [weightsName(usualWeights), weightsName(dearEvictions)];
  const table = markdownTable(
    [
      "Work, types, Karpenter",
      "best of Karpenter's own",
      `its cost ${usual}`,
      ...arms.map((arm) => `\`${arm}\``),
    ],
    rows.map(({ group, best, holders }) => [
      placeName(group),
      `\`${best.arm}\``,
      whole(meanOf(best.runs, (run) => costOf(run, usualWeights))),
      ...arms.map((arm) => cellOf(holders.find((one) => one.arm === arm))),
    ]),
    [2, ...arms.map((_, i) => i + 3)],
  );
  return `${table}\n\nEach arm of the holder as a multiple of the best of Karpenter's own settings: with the weights ${usual} and its spread over the seeds, which is assumed where there is one seed, and after the semicolon with ${dear}, against the best of Karpenter's own with those weights.`;
}

function cellOf(found: Row["holders"][number] | undefined): string {
  if (!found) return "–";
  const { usual, dear } = found;
  const assumed = usual.seeds === 1 ? " assumed" : "";
  const text = `${usual.ratio.toFixed(2)} ± ${usual.spread.toFixed(2)}${assumed}`;
  return `${usual.verdict === "less" ? `**${text}**` : text}; ${dear?.ratio.toFixed(2) ?? "–"}`;
}

/** Jobs that consolidation killed, where an interruption or drift kills them too. */
function killed(rows: readonly Row[]): string {
  const byConsolidation = ({ runs }: ArmRuns) =>
    runs.map(({ jobsKilledBy }) => (jobsKilledBy?.underutilized ?? 0) + (jobsKilledBy?.empty ?? 0));
  const range = (values: readonly number[]) => {
    const [least, most] = [Math.min(...values), Math.max(...values)].map(whole);
    return least === most ? `${least}` : `${least} to ${most}`;
  };
  const own = range(rows.flatMap(({ best }) => byConsolidation(best)));
  const arms = rows.flatMap(({ group }) => group.arms.filter(({ arm }) => isHolder(arm)));
  const holders = [...Map.groupBy(arms, ({ arm }) => arm)].map(
    ([arm, found]) => `${range(found.flatMap(byConsolidation))} with \`${arm}\``,
  );
  return `Consolidation killed ${[`${own} jobs a run with the best of Karpenter's own settings`, ...holders].join(", ")}.`;
}
