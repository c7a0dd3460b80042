import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Job } from "./jobs.ts";
import { runGroup } from "./run-group.ts";

export type Counts = Readonly<{ passed: number; failed: number; skipped: number }>;

const root = resolve(import.meta.dirname, "../..");

/** Where a job runs: its logs' folder, what more is in its environment, and whether its words are heard at once or in the end. */
export type Place = Readonly<{ folder: string; env: NodeJS.ProcessEnv; live: boolean }>;

/** Runs one suite; tells what came of it, and what it said when it was not heard at once. */
export async function runJob(
  job: Job,
  { folder, env, live }: Place,
  stopped: AbortSignal,
): Promise<Readonly<{ counts: Counts; output: string }>> {
  const report = join(folder, `${job.title}.json`);
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", "test/real/vitest.config.ts"];
  const outputs = ["--reporter=verbose", "--reporter=json", `--outputFile.json=${report}`];
  const heard = live ? "inherit" : "pipe";
  const { code, output } = await runGroup(
    [...vitest, `test/real/${job.suite}.suite.ts`, ...outputs],
    {
      cwd: root,
      stdio: ["ignore", heard, heard],
      env: { ...process.env, ...env, KARPENTER_VERSION: job.karpenter, KNH_RUN: folder },
    },
    stopped,
  );
  return { counts: countsOf(report, code), output };
}

function countsOf(report: string, code: number | null): Counts {
  const told = read(report);
  if (told === undefined) return { passed: 0, failed: 1, skipped: 0 };
  const count = (name: string) => Number(Reflect.get(told, name));
  const failed = count("numFailedTests");
  // A suite whose set-up failed, or whose worker was killed, has no failed test, yet it has failed.
  const isSilent = failed === 0 && (code !== 0 || Reflect.get(told, "success") !== true);
  return {
    passed: count("numPassedTests"),
    failed: isSilent ? 1 : failed,
    skipped: count("numPendingTests") + count("numTodoTests"),
  };
}

function read(report: string): object | undefined {
  try {
    const told: unknown = JSON.parse(readFileSync(report, "utf8"));
    return typeof told === "object" && told !== null ? told : undefined;
  } catch {
    return undefined; // it was ended before it could write
  }
}
