import { isDeepStrictEqual } from "node:util";
import { formatDuration } from "../../lambda/core/duration.ts";
import { version } from "../../lambda/version.ts";
import { drawScatter } from "../../report/plots/plot.ts";
import { drawTimeline } from "../../report/timeline/draw-timeline.ts";
import { eventsOf } from "../../report/timeline/events.ts";
import { readTimeline } from "../../report/timeline/timeline.ts";
import { markdownTable } from "../../scripts/markdown-table.ts";
import type { Archived } from "./archive.ts";
import { type ArmName, armNames, arms } from "./arms.ts";
import { comparison } from "./comparison.ts";
import { type Figures, figuresOf } from "./figures.ts";
import type { ArmRecord } from "./run-arm.ts";
import { totals } from "./totals.ts";
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

/** Arms whose timelines the README shows, for the trace `dense`. */
const shown: Partial<Record<ArmName, string>> = { none: "churn-without.svg", holder: "churn-holder.svg" };

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

/** A plot for each trace and the README's two timelines, by the names of their files. */
export function picturesOf(archived: readonly Archived[]): Record<string, string> {
  const records = archived.map(({ record }) => record);
  const plots = tracesIn(records).map((trace) => [
    `churn-${trace}.svg`,
    drawTrace(trace, recordsOf(trace, records)),
  ]);
  const timelines = recordsOf("dense", records).flatMap((record) => {
    const file = shown[record.arm];
    return file ? [[file, drawArm(record)]] : [];
  });
  return Object.fromEntries([...plots, ...timelines]);
}

const recordsOf = (trace: TraceName, records: readonly ArmRecord[]) =>
  records.filter((record) => record.trace === trace);
const tracesIn = (records: readonly ArmRecord[]): readonly TraceName[] =>
  traceNames.filter((trace) => recordsOf(trace, records).length > 0);

function drawTrace(trace: TraceName, records: readonly ArmRecord[]): string {
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
      points: records.filter(({ arm }) => arm === name).map(pointOf),
    })),
  });
}

function drawArm(record: ArmRecord): string {
  const { from, to, events, arm } = record;
  const { launched, servicePodsEvicted, imagesPulled, nodeMinutes } = figuresOf(record);
  const subtitle =
    `${launched} nodes launched, ${servicePodsEvicted} service pods evicted, ` +
    `${imagesPulled} images pulled, ${nodeMinutes} node-minutes`;
  const lanes = eventsOf(events, "node joined").length;
  const laneHeight = Math.min(16, Math.max(5, 640 / Math.max(1, lanes)));
  const title = `Dense bursts: ${arms[arm].about.replaceAll("`", "")}`;
  const clock = { kind: "elapsed", minute: 60_000 } as const;
  return drawTimeline(readTimeline(events, { from, to }), { title, subtitle, clock, laneHeight });
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
