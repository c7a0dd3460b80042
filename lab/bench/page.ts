import { readFileSync } from "node:fs";
import { cpus, loadavg, release, type } from "node:os";
import { version } from "../../lambda/version.ts";
import type { Bench, Figure, Measured, Plot, Size } from "./figure.ts";
import { titleOf } from "./plot.ts";

/** On what, with what and when; the load reports whether the machine was busy with something else. */
export type Circumstances = Readonly<{ machine: string; versions: string; date: string; load: string }>;

export type Result = Readonly<{ bench: Bench; size: Size; circumstances: Circumstances }> & Measured;

/** Call it when a benchmark begins; it returns what to call at its end. */
export function observeCircumstances(): () => Circumstances {
  const loadOf = () => (loadavg()[0] ?? 0).toFixed(1);
  const before = loadOf();
  const processors = cpus();
  return () => ({
    machine: `${processors.length} × ${processors[0]?.model ?? "processor"}, ${type()} ${release()}`,
    versions: `holder ${version}, Node ${process.version}, Kubernetes ${kubernetesVersion()}`,
    date: new Date().toISOString().slice(0, 10),
    load: `${before} before, ${loadOf()} at the end`,
  });
}

const imageOf = (plot: Plot): string => `images/bench-${plot.name}.svg`;
const yes = ({ reached }: Figure): string => (reached === undefined ? "" : reached ? "yes" : "**no**");

const table = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  [columns, columns.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");

const columns = ["What", "Measured", "Beside it", "Goal", "Reached"];
const headingOf = ({ title }: Pick<Bench, "title">): string => `## ${title}`;

/** The section of one benchmark; where everything was smaller, it says that it is no measurement. */
export function sectionOf({ bench, size, circumstances, figures, notes, plots = [] }: Result): string {
  const { machine, versions, date, load } = circumstances;
  const rows = figures.map((one) => [one.what, one.value, one.beside ?? "", one.goal ?? "", yes(one)]);
  const warning = size === "quick" ? "**No measurement**: made smaller by `--quick`. " : "";
  return [
    headingOf(bench),
    table(columns, rows),
    ...(notes ? [notes] : []),
    `${warning}${date}; ${versions}; ${machine}; load ${load}.`,
    ...plots.map((plot) => `![${titleOf(plot)}](${imageOf(plot)})`),
  ].join("\n\n");
}

const intro = `# Performance

Written by \`npm run bench -- --write\`, which replaces the sections of the benchmarks that it runs. What limits a figure stands beside it, measured in turns in the same run; times are medians. Compare within a line, not between sections: each names its own day, machine and load. What the holder does to churn on real Karpenter has [its own page](churn.md).`;

/** The page with these results: sections of benchmarks that were not run stay as they are. */
export function pageWith(
  results: readonly Result[],
  old: string,
  benches: readonly Pick<Bench, "title">[],
): string {
  const oldSections = old.split(/^(?=## )/m).map((section) => section.trim());
  const sections = benches.flatMap((bench) => {
    const result = results.find((one) => one.bench.title === bench.title);
    if (result) return [sectionOf(result)];
    return oldSections.filter((section) => section.split("\n")[0] === headingOf(bench));
  });
  return `${[intro, ...sections].join("\n\n")}\n`;
}

/** From the module the control plane is built of. */
function kubernetesVersion(): string {
  const modules = readFileSync("test/real/engines/cluster/go.mod", "utf8");
  return modules.match(/k8s\.io\/kubernetes v(\S+)/)?.[1] ?? "of an unknown version";
}
