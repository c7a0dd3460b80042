import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Progress } from "../../cli/terminal/progress.ts";
import { isProof, parseRunResult, type RunResult } from "./result.ts";
import { type Prepared, titleOf } from "./spec.ts";

/** A run that failed, and why. */
export type Failure = Readonly<{ title: string; error: string }>;

type Options = Readonly<{
  parallel: number;
  progress: Progress;
  onResult: (result: RunResult) => void;
  stopped: AbortSignal;
  /** The program of one run, for tests. */
  script?: string;
}>;

/** The size of a run in the progress: the simulated time. */
export const sizeOf = ({ trace }: Prepared): number => trace.lasts;

/** Plays all runs, so many at once, each in a process of its own. A run that fails does not stop the others. */
export async function playAll(runs: readonly Prepared[], options: Options): Promise<readonly Failure[]> {
  // What takes longest begins first, so that the end does not wait for one run.
  const waiting = runs.toSorted((a, b) => sizeOf(b) - sizeOf(a)).values();
  const failures: Failure[] = [];
  const work = async () => {
    for (const run of waiting) {
      if (options.stopped.aborted) return;
      const title = titleOf(run.spec);
      const task = options.progress.begin(title, sizeOf(run));
      try {
        options.onResult(await playOne(run, (share) => task.advance(share), options));
        task.end();
      } catch (error) {
        task.end();
        if (options.stopped.aborted) return;
        const reason = error instanceof Error ? error.message : String(error);
        options.progress.print(`${title} failed: ${reason}`);
        failures.push({ title, error: reason });
      }
    }
  };
  await Promise.all(Array.from({ length: options.parallel }, work));
  return failures;
}

async function playOne(
  run: Prepared,
  onProgress: (share: number) => void,
  { stopped, script = join(import.meta.dirname, "run-one.ts") }: Options,
): Promise<RunResult> {
  const child = spawn(process.execPath, [script, JSON.stringify(run.spec), run.key], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const stop = () => child.kill("SIGTERM");
  stopped.addEventListener("abort", stop, { once: true });
  const exit = once(child, "exit");
  try {
    const result = await readLines(child, onProgress);
    const [code, signal] = await exit;
    if (result && isProof(result)) return result;
    if (result) throw new Error(`the holder logged errors: ${listed(result.holder?.errors ?? [])}`);
    throw new Error(`the process of the run ended with ${signal ?? `exit code ${code}`} without a result`);
  } finally {
    stopped.removeEventListener("abort", stop);
    if (child.exitCode === null && child.signalCode === null) stop();
    await exit;
  }
}

const mostListed = 3;
const listed = (errors: readonly string[]): string => {
  const more = errors.length - mostListed;
  return [...errors.slice(0, mostListed), ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
};

async function readLines(
  { stdout }: ChildProcess,
  onProgress: (share: number) => void,
): Promise<RunResult | undefined> {
  if (!stdout) return undefined;
  let found: RunResult | undefined;
  for await (const line of createInterface({ input: stdout })) {
    const { progress, error, result } = JSON.parse(line);
    if (progress) onProgress(progress.at / progress.of);
    if (error !== undefined) throw new Error(error);
    if (result) found = parseRunResult(JSON.stringify(result));
  }
  return found;
}
