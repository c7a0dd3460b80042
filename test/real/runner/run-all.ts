import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Progress } from "../../../cli/terminal/progress.ts";
import { processTerminal } from "../../../cli/terminal/terminal.ts";
import { type Duration, formatDuration, minutes } from "../../../lambda/core/duration.ts";
import { buildFolder } from "../engines/build.ts";
import { Builds } from "../engines/builds.ts";
import { hasKarpenter, type Job } from "./jobs.ts";
import { failure, noTests, type Outcome, sum } from "./outcome.ts";
import { type RunContext, runJob } from "./run-job.ts";

/** Two cores can run two suites with Karpenter, which mostly wait for its timers, beside three others. */
const mostWithKarpenter = 2;
const mostOthers = 3;

/** Runs all jobs, some of them at the same time. */
export async function runAll(
  jobs: readonly Job[],
  context: RunContext,
  stopped: AbortSignal,
): Promise<Outcome> {
  const builds = new Builds();
  const building = builds.build(jobs, stopped);
  const waiting = [...jobs];
  const running = new Set<Job>();
  const terminal = processTerminal();
  // A suite that runs alone prints its own tests, which a moving line would disturb.
  const progress = new Progress(
    jobs.reduce((all, job) => all + usualTime(job), 0),
    context.live ? { notify: terminal.notify } : terminal,
  );
  let total = noTests;

  const worker = async () => {
    while (waiting.length > 0 && !stopped.aborted) {
      const next = waiting.findIndex((job) => builds.stateOf(job) !== "building" && hasRoom(job));
      if (next < 0) await sleep(200);
      else for (const job of waiting.splice(next, 1)) await run(job);
    }
  };
  const hasRoom = (job: Job) =>
    [...running].filter((other) => hasKarpenter(other) === hasKarpenter(job)).length <
    (hasKarpenter(job) ? mostWithKarpenter : mostOthers);
  const run = async (job: Job) => {
    progress.print(`── ${job.title}${context.live ? "" : " starts"}`);
    const began = performance.now();
    const task = progress.beginTimed(job.title, usualTime(job));
    running.add(job);
    const { outcome, output } = await outcomeOf(job);
    running.delete(job);
    const took = performance.now() - began;
    if (outcome.failed === 0) keepTime(job, took);
    task.end(context.live ? undefined : `\n── ${job.title} took ${formatDuration(took)}\n${output}`);
    total = sum(total, {
      ...outcome,
      failures: outcome.failures.map((why) => `${job.title}: ${why}`),
    });
  };
  const outcomeOf = async (job: Job) =>
    builds.stateOf(job) === "built"
      ? runJob(job, context, stopped)
      : { outcome: failure("could not be built"), output: "" };

  await Promise.all([building, ...Array.from({ length: mostWithKarpenter + mostOthers }, worker)]);
  progress.stop();
  return total;
}

/** How long each job took when it last succeeded on this machine. */
const times = join(buildFolder, "suite-times");

function usualTime({ title }: Job): Duration {
  const file = join(times, title);
  return existsSync(file) ? Number(readFileSync(file, "utf8")) : minutes(3);
}

function keepTime({ title }: Job, took: Duration): void {
  mkdirSync(times, { recursive: true });
  writeFileSync(join(times, title), String(Math.round(took)));
}
