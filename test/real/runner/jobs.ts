import { globSync } from "node:fs";
import { basename, join } from "node:path";
import { newestKarpenter, oldestKarpenter, type Part } from "../engines/build.ts";

/** One suite, with one version of Karpenter where it needs one. */
export type Job = Readonly<{ title: string; suite: string; karpenter: string }>;

/** An argument that does not exist. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const suiteFiles = globSync("*.suite.ts", { cwd: join(import.meta.dirname, "../suites") });
export const suites = suiteFiles.map((file) => basename(file, ".suite.ts")).sort();
const withKarpenter = ["advise", "karpenter", "truth-table"];
const onAnyKarpenter = [...withKarpenter, "deployed-karpenter"];
/** Long suites, which start first, the longest at the head, so that the run does not end with a wait for one of them. */
const longest = [
  ...["karpenter", "deployed", "deployed-karpenter", "churn", "upgrades", "smoke", "ledger"],
  ...["private-endpoint", "commands", "documents", "truth-table"],
];
/** Whether Karpenter runs most of the time; the lab on the wall clock always uses the newest. */
export const hasKarpenter = ({ suite }: Pick<Job, "suite">): boolean =>
  [...withKarpenter, "churn"].includes(suite);

/** The jobs for these names; by default all, the longest first, some also on the oldest version. */
export function jobsOf(names: readonly string[]): Job[] {
  if (names.length > 0) return names.map(jobOf);
  const onOldest = (suite: string) => (withKarpenter.includes(suite) ? [`${suite}@${oldestKarpenter}`] : []);
  const all = [...new Set([...longest, ...suites])];
  return all.flatMap((suite) => [suite, ...onOldest(suite)]).map(jobOf);
}

function jobOf(title: string): Job {
  const [suite = "", karpenter] = title.split("@");
  const isKnown = suites.includes(suite) && (karpenter === undefined || onAnyKarpenter.includes(suite));
  if (!isKnown) {
    const versions = onAnyKarpenter.map((name) => `${name}@VERSION`);
    throw new UsageError(`there is no suite "${title}"; there are: ${[...suites, ...versions].join(", ")}`);
  }
  if (karpenter !== undefined && !/^\d+\.\d+\.\d+$/.test(karpenter)) {
    throw new UsageError(`${title}: expected a version like ${suite}@${oldestKarpenter}`);
  }
  return { title, suite, karpenter: karpenter ?? newestKarpenter };
}

/** The parts that a job needs. A suite builds missing parts itself, but without showing its progress. */
export function partsOf({ suite, karpenter }: Job): readonly Part[] {
  if (suite === "churn")
    return ["control-plane", "kubelet", `karpenter-${karpenter}`, `lab-${newestKarpenter}`];
  if (hasKarpenter({ suite })) return ["control-plane", "kubelet", `karpenter-${karpenter}`];
  if (["model", "package", "run"].includes(suite)) return [];
  if (suite === "chart") return ["control-plane", "helm"];
  if (suite === "template") return ["python-cfn-lint"];
  const emulated = ["control-plane", "python-emulator"] as const;
  if (suite === "commands")
    return [...emulated, "kubelet", `karpenter-${newestKarpenter}`, `lab-${newestKarpenter}`];
  if (suite === "lab-engine") return [`lab-${newestKarpenter}`];
  if (suite === "deployed-karpenter") return [...emulated, "kubelet", `karpenter-${karpenter}`];
  const onEmulator = [
    ...["deployed", "doctor", "documents", "holds", "ledger", "private-endpoint", "smoke", "upgrades"],
  ];
  if (onEmulator.includes(suite)) return emulated;
  return ["control-plane"];
}
