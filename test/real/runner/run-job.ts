import { join, resolve } from "node:path";
import type { Job } from "./jobs.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { runGroup } from "./run-group.ts";

const root = resolve(import.meta.dirname, "../../..");

/** A job's folder for logs, and whether its output is printed live or at the end. */
export type RunContext = Readonly<{ folder: string; live: boolean }>;

/** Runs one suite; returns its results, and its output unless that was printed live. */
export async function runJob(
  job: Job,
  { folder, live }: RunContext,
  stopped: AbortSignal,
): Promise<Readonly<{ outcome: Outcome; output: string }>> {
  const report = join(folder, `${job.title}.json`);
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", "test/real/runner/vitest.config.ts"];
  const outputs = ["--reporter=verbose", "--reporter=json", `--outputFile.json=${report}`];
  const stdio = live ? "inherit" : "pipe";
  const { code, output } = await runGroup(
    [...vitest, `test/real/suites/${job.suite}.suite.ts`, ...outputs],
    {
      cwd: root,
      stdio: ["ignore", stdio, stdio],
      env: { ...process.env, KARPENTER_VERSION: job.karpenter, KNH_RUN: folder },
    },
    stopped,
  );
  return { outcome: outcomeOf(report, code, output), output };
}
