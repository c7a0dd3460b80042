import { globSync } from "node:fs";
import { basename } from "node:path";
import { newestKarpenter, oldestKarpenter } from "./build.ts";

/** One suite, with one version of Karpenter where it needs one. */
export type Job = Readonly<{ title: string; suite: string; karpenter: string }>;

/** Asked for what does not exist. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const suiteFiles = globSync("*.suite.ts", { cwd: import.meta.dirname });
export const suites = suiteFiles.map((file) => basename(file, ".suite.ts")).sort();

/** What to run for these names; without any, every suite, and the Karpenter suite also on the oldest version. */
export function jobsOf(names: readonly string[]): Job[] {
  if (names.length === 0) return [...suites, `karpenter@${oldestKarpenter}`].map(jobOf);
  return names.map(jobOf);
}

function jobOf(title: string): Job {
  const [suite = "", karpenter] = title.split("@");
  const isKnown = suites.includes(suite) && (karpenter === undefined || suite === "karpenter");
  if (!isKnown) {
    throw new UsageError(`there is no suite "${title}"; there are: ${suites.join(", ")}, karpenter@VERSION`);
  }
  if (karpenter !== undefined && !/^\d+\.\d+\.\d+$/.test(karpenter)) {
    throw new UsageError(`karpenter@${karpenter}: expected a version like karpenter@${oldestKarpenter}`);
  }
  return { title, suite, karpenter: karpenter ?? newestKarpenter };
}
