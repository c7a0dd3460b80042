import { join, resolve } from "node:path";
import type { Job } from "./jobs.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { runGroup } from "./run-group.ts";

const root = resolve(import.meta.dirname, "../../..");

/** Where a job runs: its logs' folder, what more is in its environment, and whether its words are heard at once or in the end. */
export type Place = Readonly<{ folder: string; env: NodeJS.ProcessEnv; live: boolean }>;

/** Runs one suite; tells what came of it, and what it said when it was not heard at once. */
export async function runJob(
  job: Job,
  { folder, env, live }: Place,
  stopped: AbortSignal,
): Promise<Readonly<{ outcome: Outcome; output: string }>> {
  const report = join(folder, `${job.title}.json`);
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", "test/real/runner/vitest.config.ts"];
  const outputs = ["--reporter=verbose", "--reporter=json", `--outputFile.json=${report}`];
  const heard = live ? "inherit" : "pipe";
  const { code, output } = await runGroup(
    [...vitest, `test/real/suites/${job.suite}.suite.ts`, ...outputs],
    {
      cwd: root,
      stdio: ["ignore", heard, heard],
      env: { ...process.env, ...env, KARPENTER_VERSION: job.karpenter, KNH_RUN: folder },
    },
    stopped,
  );
  return { outcome: outcomeOf(report, code), output };
}
