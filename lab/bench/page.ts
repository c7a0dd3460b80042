import { readFileSync } from "node:fs";
import { cpus, loadavg, release, type } from "node:os";
import { version } from "../../lambda/version.ts";
import type { Bench, Figure, Measured, Plot, Size } from "./figure.ts";
import { titleOf } from "./plot.ts";

export type Result = Readonly<{ bench: Bench }> & Measured;

/** On what, with what and when; the load reports whether the machine was busy with something else. */
export type Circumstances = Readonly<{ machine: string; versions: string; date: string; load: string }>;

const loadBefore = loadavg()[0] ?? 0;

export function circumstances(): Circumstances {
  const processors = cpus();
  return {
    machine: `${processors.length} × ${processors[0]?.model ?? "processor"}, ${type()} ${release()}`,
    versions: `holder ${version}, Node ${process.version}, Kubernetes ${kubernetesVersion()}`,
    date: new Date().toISOString().slice(0, 10),
    load: `${loadBefore.toFixed(1)} before the run, ${loadavg()[2]?.toFixed(1)} on average of its last quarter of an hour`,
  };
}

const imageOf = (plot: Plot): string => `images/bench-${plot.name}.svg`;
const yes = ({ reached }: Figure): string => (reached === undefined ? "" : reached ? "yes" : "**no**");

const table = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  [columns, columns.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");

const columns = ["What", "Measured", "Beside it", "Goal", "Reached"];

export function tableOf({ bench, figures }: Result): string {
  const rows = figures.map((one) => [one.what, one.value, one.beside ?? "", one.goal ?? "", yes(one)]);
  return `## ${bench.title}\n\n${table(columns, rows)}\n`;
}

function sectionOf(result: Result): string {
  const plots = (result.plots ?? []).map((plot) => `![${titleOf(plot)}](${imageOf(plot)})\n`);
  return [tableOf(result), ...(result.notes ? [`${result.notes}\n`] : []), ...plots].join("\n");
}

/** Each goal of the design with the figure that answers it. */
function goals(results: readonly Result[]): string {
  const rows = results
    .flatMap(({ figures }) => figures)
    .flatMap((one) =>
      one.answers ? [[one.answers, one.value, one.beside ?? "", one.goal ?? "", yes(one)]] : [],
    );
  const churn = [
    "Churn on real Karpenter, without and with the holder",
    "[its own page](churn.md)",
    "",
    "counted and plotted",
    "yes",
  ];
  return `## The goals\n\n${table(columns, [...rows, churn])}\n`;
}

/** The whole page; where everything was smaller, it says that it is no measurement. */
export function page(results: readonly Result[], size: Size): string {
  const { machine, versions, date, load } = circumstances();
  const intro = [
    "# Performance",
    "",
    size === "whole"
      ? "Written by `npm run bench -- --write`. What limits a figure stands beside it, measured in turns in the same run; times are medians. Compare within a line, not between days: the machine is shared, and its load is reported."
      : "**No measurement**: written by `npm run bench -- --quick --write`, everything smaller, only to see that it works.",
    "",
    `Machine: ${machine}; load ${load}. Versions: ${versions}. Date: ${date}.`,
    "",
  ].join("\n");
  return [intro, goals(results), ...results.map(sectionOf)].join("\n");
}

/** From the module the control plane is built of. */
function kubernetesVersion(): string {
  const modules = readFileSync("test/real/engines/cluster/go.mod", "utf8");
  return modules.match(/k8s\.io\/kubernetes v(\S+)/)?.[1] ?? "of an unknown version";
}
