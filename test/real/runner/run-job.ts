import { mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildFolder } from "../engines/build-once.ts";
import type { Job } from "./jobs.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { runGroup } from "./run-group.ts";

const root = resolve(import.meta.dirname, "../../..");

/** Processes that suites start would compile the same sources again and again. */
const compiled = join(buildFolder, "compile-cache");

/** The folder of the run, and whether its output is printed live or at the end. */
export type RunContext = Readonly<{ folder: string; live: boolean }>;

/**
 * Runs one suite; returns its results, and its output unless that was printed live. What its engines wrote, up to half a
 * gigabyte, stays only where a test failed or the suite ran alone.
 */
export async function runJob(
  job: Job,
  { folder, live }: RunContext,
  stopped: AbortSignal,
): Promise<Readonly<{ outcome: Outcome; output: string }>> {
  const own = join(folder, job.title);
  mkdirSync(own, { recursive: true });
  const report = join(folder, `${job.title}.json`);
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", "test/real/runner/vitest.config.ts"];
  const outputs = ["--reporter=verbose", "--reporter=json", `--outputFile.json=${report}`];
  const stdio = live ? "inherit" : "pipe";
  const { code, output } = await runGroup(
    [...vitest, `test/real/suites/${job.suite}.suite.ts`, ...outputs],
    {
      cwd: root,
      stdio: ["ignore", stdio, stdio],
      env: { ...process.env, KARPENTER_VERSION: job.karpenter, KNH_RUN: own, NODE_COMPILE_CACHE: compiled },
    },
    stopped,
  );
  const outcome = outcomeOf(report, code, output);
  if (outcome.failed === 0 && !live && !stopped.aborted) rmSync(own, { recursive: true, force: true });
  return { outcome, output };
}
