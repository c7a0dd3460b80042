import { isDeepStrictEqual } from "node:util";
import { formatDuration } from "../../lambda/core/duration.ts";
import { version } from "../../lambda/version.ts";
import { drawBars } from "../../report/plots/bars.ts";
import { drawScatter } from "../../report/plots/plot.ts";
import { markdownTable } from "../../scripts/markdown-table.ts";
import type { Archived } from "./archive.ts";
import { armNames, arms } from "./arms.ts";
import { comparison } from "./comparison.ts";
import { type Figures, figuresOf } from "./figures.ts";
import type { ArmRecord } from "./run-arm.ts";
import { costOf, totals } from "./totals.ts";
import { type TraceName, traceOf, traces } from "./traces.ts";

const columns: readonly (readonly [label: string, figure: keyof Figures])[] = [
  ["nodes launched", "launched"],
  ["node-minutes", "nodeMinutes"],
  ["service pods evicted", "servicePodsEvicted"],
  ["jobs restarted", "jobsRestarted"],
  ["images pulled", "imagesPulled"],
  ["pod wait, median (s)", "waitMedian"],
  ["pod wait, 95th (s)", "wait95th"],
  ["drift done (s)", "driftDone"],
];

const traceNames = Object.keys(traces) as TraceName[];

/** The figures of every record, as the page shows them. */
export function figuresBlock(archived: readonly Archived[]): string {
  const records = archived.map(({ record }) => record);
  const about = armNames.map((name) => [`\`${name}\``, arms[name].about]);
  return [
    markdownTable(["Arm", "What it is"], about),
    ...comparison(records),
    ...totals(archived),
    ...tracesIn(records).map((trace) => section(trace, recordsOf(trace, records))),
    provenance(archived),
  ].join("\n\n");
}

/** A plot for each trace and the README's picture of all of them, by the names of their files. */
export function picturesOf(archived: readonly Archived[]): Record<string, string> {
  const records = archived.map(({ record }) => record);
  const plots = tracesIn(records).map((trace) => [
    `churn-${trace}.svg`,
    drawTrace(trace, recordsOf(trace, records)),
  ]);
  const shared = comparable(records);
  return Object.fromEntries([...plots, ...(shared.length > 0 ? [["churn-all.svg", drawAll(shared)]] : [])]);
}

const recordsOf = (trace: TraceName, records: readonly ArmRecord[]) =>
  records.filter((record) => record.trace === trace);
const tracesIn = (records: readonly ArmRecord[]): readonly TraceName[] =>
  traceNames.filter((trace) => recordsOf(trace, records).length > 0);

function drawTrace(trace: TraceName, records: readonly ArmRecord[]): string {
  const cost = (record: ArmRecord) => costOf(figuresOf(record));
  const cheapest = records.reduce((a, b) => (cost(b) < cost(a) ? b : a));
  const pointOf = (record: ArmRecord) => {
    const { nodeMinutes, launched } = figuresOf(record);
    return [nodeMinutes, launched] as const;
  };
  return drawScatter({
    title: `Trace ${trace}`,
    subtitle: "Lower and further left is better.",
    x: { label: "node-minutes" },
    y: { label: "nodes launched" },
    series: armNames.map((name) => ({
      name,
      colour: arms[name].colour,
      points: records.filter(({ arm }) => arm === name).map(pointOf),
    })),
    ring: { at: pointOf(cheapest), text: "cheapest run, with the cost of evictions" },
  });
}

/** What the README's picture calls the arms. */
const named = [
  ["none", "Karpenter alone"],
  ["consolidate-after", "consolidateAfter"],
  ["holder-30s", "node holder"],
  ["auto-30s", "with hold=auto"],
] as const;

/** The records of traces and seeds that each of these arms ran. */
function comparable(records: readonly ArmRecord[]): readonly ArmRecord[] {
  const keyOf = ({ trace, seed }: ArmRecord) => `${trace} ${seed}`;
  const ranBy = named.map(([name]) => new Set(records.filter(({ arm }) => arm === name).map(keyOf)));
  return records.filter((record) => ranBy.every((keys) => keys.has(keyOf(record))));
}

/** The sums of these arms over traces and seeds that each of them ran. */
function drawAll(shared: readonly ArmRecord[]): string {
  const traceCount = new Set(shared.map(({ trace }) => trace)).size;
  const groupOf = (label: string, value: (figures: Figures) => number) => ({
    label,
    bars: named.map(([arm, name]) => {
      const figures = shared.filter((record) => record.arm === arm).map(figuresOf);
      return {
        name,
        colour: arms[arm].colour,
        value: Math.round(figures.reduce((sum, one) => sum + value(one), 0)),
      };
    }),
  });
  return drawBars({
    title: `${traceCount} kinds of work on real Karpenter`,
    subtitle: [
      "consolidateAfter as long as the hold; beside the",
      "holder it is 30 seconds. Less is better.",
    ],
    groups: [
      groupOf("nodes launched", ({ launched }) => launched),
      groupOf("pods evicted, jobs restarted", (one) => one.servicePodsEvicted + one.jobsRestarted),
      groupOf("node-minutes", ({ nodeMinutes }) => nodeMinutes),
    ],
  });
}

function section(trace: TraceName, records: readonly ArmRecord[]): string {
  const { about } = traceOf(trace, 1);
  const rows = armNames.flatMap((arm) =>
    records
      .filter((record) => record.arm === arm)
      .map((record) => {
        const figures = figuresOf(record);
        return [
          `\`${arm}\``,
          String(record.seed),
          ...columns.map(([, figure]) => String(figures[figure] ?? "–")),
        ];
      }),
  );
  const unfinished = records.reduce((sum, record) => sum + record.unfinished, 0);
  const head = ["Arm", "Seed", ...columns.map(([label]) => label)];
  const sentences = [
    `${about[0]?.toUpperCase()}${about.slice(1)}.`,
    ...(isRandom(trace) ? [] : ["Nothing in it is random: another seed repeats it."]),
    ...(unfinished > 0 ? [`${unfinished} jobs had not finished at the end.`] : []),
  ];
  return [
    `### Trace \`${trace}\``,
    sentences.join(" "),
    markdownTable(
      head,
      rows,
      head.map((_, i) => i).filter((i) => i > 0),
    ),
    `![Nodes launched against node-minutes of trace ${trace}](images/churn-${trace}.svg)`,
  ].join("\n\n");
}

const isRandom = (trace: TraceName): boolean => !isDeepStrictEqual(traceOf(trace, 1), traceOf(trace, 2));

function provenance(archived: readonly Archived[]): string {
  const all = (of: (one: Archived) => string) => [...new Set(archived.map(of))].sort().join(", ");
  const loads = archived.map(({ load }) => load);
  return [
    all(({ record }) => record.from.toISOString().slice(0, 10)),
    `hold ${all(({ record }) => formatDuration(record.hold))}`,
    `seeds ${all(({ record }) => String(record.seed))}`,
    `Karpenter ${all(({ karpenter }) => karpenter)}, holder ${version}`,
    all(({ machine }) => machine),
    `load average ${Math.min(...loads).toFixed(1)} to ${Math.max(...loads).toFixed(1)}.`,
  ].join("; ");
}
