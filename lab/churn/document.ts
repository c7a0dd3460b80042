import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { formatDuration } from "../../lambda/core/duration.ts";
import { version } from "../../lambda/version.ts";
import { drawScatter } from "../../report/plots/scatter-plot.ts";
import { drawTimeline } from "../../report/timeline/draw-timeline.ts";
import { eventsOf } from "../../report/timeline/events.ts";
import { readTimeline } from "../../report/timeline/timeline.ts";
import { markdownTable } from "../../scripts/markdown-table.ts";
import type { Archived } from "./archive.ts";
import { type ArmName, arms } from "./arms.ts";
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

/** Writes the page, a plot for each trace and the README's two timelines; every number comes from the records. */
export function writeDocument(archived: readonly Archived[], folder: string): void {
  const images = join(folder, "images");
  mkdirSync(images, { recursive: true });
  for (const trace of tracesIn(archived)) {
    const plot = drawTrace(
      trace,
      archived.filter(({ record }) => record.trace === trace),
    );
    writeFileSync(join(images, `churn-${trace}.svg`), `${plot}\n`);
  }
  for (const { record } of archived) {
    const file = record.trace === "dense" ? shown[record.arm] : undefined;
    if (file) writeFileSync(join(images, file), `${drawArm({ record })}\n`);
  }
  writeFileSync(join(folder, "churn.md"), page(archived));
}

const tracesIn = (archived: readonly Archived[]): readonly TraceName[] =>
  (Object.keys(traces) as TraceName[]).filter((trace) =>
    archived.some(({ record }) => record.trace === trace),
  );

function drawTrace(trace: TraceName, archived: readonly Archived[]): string {
  const names = (Object.keys(arms) as ArmName[]).filter((arm) =>
    archived.some(({ record }) => record.arm === arm),
  );
  return drawScatter({
    title: `Trace ${trace}`,
    subtitle: "Lower and further left is better.",
    x: { label: "node-minutes" },
    y: { label: "nodes launched" },
    series: names.map((name) => ({
      name,
      points: archived
        .filter(({ record }) => record.arm === name)
        .map(({ record }) => figuresOf(record))
        .map(({ nodeMinutes, launched }) => ({ x: nodeMinutes, y: launched })),
    })),
  });
}

function drawArm({ record }: Pick<Archived, "record">): string {
  const { from, to, events, arm } = record;
  const figures = figuresOf(record);
  const subtitle =
    `${figures.launched} nodes launched, ${figures.servicePodsEvicted} service pods evicted, ` +
    `${figures.imagesPulled} images pulled, ${figures.nodeMinutes} node-minutes`;
  const lanes = eventsOf(events, "node joined").length;
  const laneHeight = Math.min(16, Math.max(5, 640 / Math.max(1, lanes)));
  const title = `Dense bursts: ${arms[arm].about.replaceAll("`", "")}`;
  const clock = { kind: "elapsed", minute: 60_000 } as const;
  return drawTimeline(readTimeline(events, { from, to }), { title, subtitle, clock, laneHeight });
}

function page(archived: readonly Archived[]): string {
  const holds = [...new Set(archived.map(({ record }) => formatDuration(record.hold)))].join(", ");
  return `${[
    "# The churn lab",
    "The same work on real Karpenter with different settings, each on a fresh cluster. `npm run churn` writes this page and its pictures; no number is edited by hand.",
    `Time is compressed: the hold and \`consolidateAfter\` last ${holds}. Karpenter's own loops are not: it looks every 10 s and waits 15 s before it consolidates.`,
    "## Arms",
    markdownTable(
      ["Arm", "What it is"],
      Object.entries(arms).map(([name, { about }]) => [`\`${name}\``, about]),
    ),
    ...comparison(archived),
    ...totals(archived),
    "## Results",
    ...tracesIn(archived).map((trace) => section(trace, archived)),
    limits,
    provenance(archived),
  ].join("\n\n")}\n`;
}

/** The holder beside `consolidateAfter` of the same length, and whether it costs more than it may. */
function comparison(archived: readonly Archived[]): readonly string[] {
  const find = (arm: ArmName, { trace, seed }: ArmRecord) =>
    archived.find(({ record }) => record.arm === arm && record.trace === trace && record.seed === seed)
      ?.record;
  const rows = tracesIn(archived).flatMap((trace) =>
    archived.flatMap(({ record }) => {
      const native = find("consolidate-after", record);
      if (record.trace !== trace || record.arm !== "holder" || !native) return [];
      const [ours, theirs] = [figuresOf(record), figuresOf(native)];
      const nodeTime = ours.nodeMinutes / theirs.nodeMinutes;
      const isReached = ours.launched <= theirs.launched * 1.1 && nodeTime <= 1.05;
      const launched = `${ours.launched} against ${theirs.launched}`;
      const alone = find("none", record);
      const drift = alone ? ratio(ours.driftDone, figuresOf(alone).driftDone) : undefined;
      const verdict = isReached ? "yes" : "no";
      return [[`\`${trace}\``, String(record.seed), launched, nodeTime.toFixed(2), verdict, drift ?? "–"]];
    }),
  );
  if (rows.length === 0) return [];
  return [
    "## The holder against `consolidateAfter` of the same length",
    "The goal on every trace: at most 10 % more launches, at no more than 1.05 times the node-minutes. Where both are alike, `consolidateAfter` alone is enough, and simpler.",
    markdownTable(
      [
        "Trace",
        "Seed",
        "nodes launched",
        "node-minutes, ratio",
        "goal reached",
        "drift done, against `none`",
      ],
      rows,
      [1, 3, 5],
    ),
  ];
}

const ratio = (value: number | undefined, other: number | undefined): string | undefined =>
  value !== undefined && other ? (value / other).toFixed(2) : undefined;

function section(trace: TraceName, archived: readonly Archived[]): string {
  const records = archived.map(({ record }) => record).filter((record) => record.trace === trace);
  const { about } = traceOf(trace, 1);
  const rows = (Object.keys(arms) as ArmName[]).flatMap((arm) =>
    records
      .filter((record) => record.arm === arm)
      .map((record) => {
        const figures = figuresOf(record);
        const cells = columns.map(([, figure]) => String(figures[figure] ?? "–"));
        return [`\`${arm}\``, String(record.seed), ...cells];
      }),
  );
  const unfinished = records.reduce((sum, record) => sum + record.unfinished, 0);
  return [
    `### \`${trace}\``,
    [
      `${about[0]?.toUpperCase()}${about.slice(1)}.`,
      ...(isRandom(trace) ? [] : ["Nothing in it is random: another seed repeats it."]),
      ...(unfinished > 0 ? [`${unfinished} jobs had not finished at the end.`] : []),
    ].join(" "),
    markdownTable(["Arm", "Seed", ...columns.map(([label]) => label)], rows, [1, 2, 3, 4, 5, 6, 7, 8, 9]),
    `![Nodes launched against node-minutes of trace ${trace}](images/churn-${trace}.svg)`,
  ].join("\n\n");
}

const isRandom = (trace: TraceName): boolean => !isDeepStrictEqual(traceOf(trace, 1), traceOf(trace, 2));

const limits = [
  "## Limits",
  "",
  "- Nodes and pods are simulated (kwok): a node is ready within seconds. Karpenter, scheduler, API server and evictions are real.",
  "- A job's pod has no owner, because the simulated kubelet finishes pods of Jobs at once. The lab creates an evicted job again from its start.",
  "- An image counts as pulled when a node runs the first pod with it.",
  "- Node-minutes are counted from the time when the services run until the end of the trace.",
].join("\n");

function provenance(archived: readonly Archived[]): string {
  const loads = archived.map(({ load }) => load);
  const dates = archived.map(({ record }) => record.from.getTime());
  const one = (values: readonly string[]) => [...new Set(values)].join(", ");
  const day = (time: number) => new Date(time).toISOString().slice(0, 10);
  const rows = [
    ["command", "`npm run churn`"],
    ["date", one([Math.min(...dates), Math.max(...dates)].map(day))],
    ["seeds", one(archived.map(({ record }) => String(record.seed)).sort())],
    ["versions", `Karpenter ${one(archived.map(({ karpenter }) => karpenter))}, holder ${version}`],
    ["machine", one(archived.map(({ machine }) => machine))],
    ["load average (5 min)", `${Math.min(...loads).toFixed(1)} to ${Math.max(...loads).toFixed(1)}`],
  ];
  return `## How it was measured\n\n${markdownTable(["", ""], rows)}`;
}
