import { setTimeout as sleep } from "node:timers/promises";
import { Builds } from "../engines/builds.ts";
import { hasKarpenter, type Job } from "./jobs.ts";
import { failure, noTests, type Outcome, sum } from "./outcome.ts";
import { type RunContext, runJob } from "./run-job.ts";

const print = (text: string) => process.stderr.write(`${text}\n`);

/** Two cores can run this many: suites with Karpenter mostly wait for its timers. */
const maxAtOnce = 3;
const maxOfOneKind = 2;

/** Runs all jobs, some of them at the same time. */
export async function runAll(
  jobs: readonly Job[],
  context: RunContext,
  stopped: AbortSignal,
): Promise<Outcome> {
  const builds = new Builds();
  const building = builds.build(jobs, stopped);
  const waiting = [...jobs];
  const running = new Map<Job, number>();
  let total = noTests;

  const worker = async () => {
    while (waiting.length > 0 && !stopped.aborted) {
      const next = waiting.findIndex((job) => builds.stateOf(job) !== "building" && hasRoom(job));
      if (next < 0) await sleep(200);
      else for (const job of waiting.splice(next, 1)) await run(job);
    }
  };
  const hasRoom = (job: Job) =>
    [...running.keys()].filter((other) => hasKarpenter(other) === hasKarpenter(job)).length < maxOfOneKind;
  const run = async (job: Job) => {
    print(`── ${job.title}${context.live ? "" : " starts"}`);
    const began = performance.now();
    running.set(job, began);
    const { outcome, output } = await outcomeOf(job);
    running.delete(job);
    if (!context.live) print(`\n── ${job.title} took ${secondsSince(began)}\n${output}`);
    total = sum(total, {
      ...outcome,
      failures: outcome.failures.map((why) => `${job.title}: ${why}`),
    });
  };
  const outcomeOf = async (job: Job) =>
    builds.stateOf(job) === "built"
      ? runJob(job, context, stopped)
      : { outcome: failure("could not be built"), output: "" };

  const printRunning = () =>
    print(
      `  running: ${[...running].map(([{ title }, began]) => `${title} ${secondsSince(began)}`).join(", ")}`,
    );
  const clock = context.live ? undefined : setInterval(() => running.size > 0 && printRunning(), 60_000);
  await Promise.all([building, ...Array.from({ length: maxAtOnce }, worker)]);
  clearInterval(clock);
  return total;
}

const secondsSince = (began: number): string => `${Math.round((performance.now() - began) / 1000)} s`;
