import { readFileSync } from "node:fs";
import { cpus, loadavg, release, type } from "node:os";
import { version } from "../../lambda/version.ts";
import { markdownTable } from "../../scripts/markdown-table.ts";
import type { Figure, Size } from "./figure.ts";

/** Call it when the benchmarks begin. It returns a function to call at their end, which describes date, versions and machine. */
export function observeCircumstances(): () => string {
  const load = () => (loadavg()[0] ?? 0).toFixed(1);
  const before = load();
  const processors = cpus();
  const machine = `${processors.length} × ${processors[0]?.model ?? "processor"}, ${type()} ${release()}`;
  const versions = `holder ${version}, Node ${process.version}, Kubernetes ${kubernetesVersion()}`;
  return () => {
    const date = new Date().toISOString().slice(0, 10);
    return `${date}; ${versions}; ${machine}; load ${before} before, ${load()} at the end.`;
  };
}

const columns = ["What", "Measured", "Beside it", "Goal", "Reached"];
const yes = ({ reached }: Figure): string => (reached === undefined ? "" : reached ? "yes" : "**no**");

/** All figures and the machine that they were measured on; for a quick run, with a note that it is no measurement. */
export function figuresTable(figures: readonly Figure[], circumstances: string, size: Size): string {
  const rows = figures.map((one) => [one.what, one.value, one.beside ?? "", one.goal ?? "", yes(one)]);
  const warning = size === "quick" ? "**No measurement**: made smaller by `--quick`. " : "";
  return `${markdownTable(columns, rows)}\n\n${warning}${circumstances}`;
}

/** Read from the module that the control plane is built from. */
function kubernetesVersion(): string {
  const modules = readFileSync("test/real/engines/cluster/go.mod", "utf8");
  return modules.match(/k8s\.io\/kubernetes v(\S+)/)?.[1] ?? "of an unknown version";
}
