import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Job } from "./jobs.ts";
import { until } from "./processes.ts";

export type Counts = Readonly<{ passed: number; failed: number; skipped: number }>;

const root = resolve(import.meta.dirname, "../..");
const graceMs = 10_000;

/** Runs one suite; whatever it started and could not stop itself ends with it. */
export async function runJob(
  job: Job,
  folder: string,
  stopped: AbortSignal,
  env: NodeJS.ProcessEnv,
): Promise<Counts> {
  const report = join(folder, `${job.title}.json`);
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", "test/real/vitest.config.ts"];
  const outputs = ["--reporter=verbose", "--reporter=json", `--outputFile.json=${report}`];
  const child = spawn(process.execPath, [...vitest, `test/real/${job.suite}.suite.ts`, ...outputs], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    // A process group of its own: one call ends all of it, and Ctrl-C reaches it through us alone.
    detached: true,
    env: { ...process.env, ...env, KARPENTER_VERSION: job.karpenter, KNH_RUN: folder },
  });
  const gone = new Promise((done) => child.once("close", done));
  const killAll = () => signalGroup(child.pid, "SIGKILL");
  const end = () => {
    signalGroup(child.pid, "SIGTERM");
    setTimeout(killAll, graceMs).unref();
  };
  if (stopped.aborted) end();
  stopped.addEventListener("abort", end, { once: true });
  process.once("exit", killAll);
  await gone;
  killAll();
  await until("all it started to be gone", async () => !signalGroup(child.pid, 0), graceMs);
  process.off("exit", killAll);
  stopped.removeEventListener("abort", end);
  return countsOf(report);
}

/** Whether anybody of the group was there to hear it. */
function signalGroup(leader: number | undefined, signal: NodeJS.Signals | 0): boolean {
  if (leader === undefined) return false;
  try {
    return process.kill(-leader, signal);
  } catch {
    return false;
  }
}

function countsOf(report: string): Counts {
  const told = read(report);
  if (told === undefined) return { passed: 0, failed: 1, skipped: 0 };
  const count = (name: string) => Number(Reflect.get(told, name));
  const failed = count("numFailedTests");
  // A suite whose set-up failed has no failed test, yet it has failed.
  const isSilent = failed === 0 && Reflect.get(told, "success") !== true;
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
