import { setTimeout as sleep } from "node:timers/promises";
import { Builds } from "../engines/builds.ts";
import { hasKarpenter, type Job } from "./jobs.ts";
import { failure, nothingYet, type Outcome, sum } from "./outcome.ts";
import { type Place, runJob } from "./run-job.ts";

const say = (text: string) => process.stderr.write(`${text}\n`);

/** Two cores have room for so many: most of the time those with Karpenter wait for its timers. */
const atOnce = 3;
const alikeAtOnce = 2;

/** Runs all jobs, some side by side. */
export async function runAll(jobs: readonly Job[], place: Place, stopped: AbortSignal): Promise<Outcome> {
  const builds = new Builds();
  const building = builds.build(jobs, stopped);
  const waiting = [...jobs];
  const running = new Map<Job, number>();
  let total = nothingYet;

  const lane = async () => {
    while (waiting.length > 0 && !stopped.aborted) {
      const next = waiting.findIndex((job) => builds.stateOf(job) !== "building" && hasRoom(job));
      if (next < 0) await sleep(200);
      else for (const job of waiting.splice(next, 1)) await run(job);
    }
  };
  const hasRoom = (job: Job) =>
    [...running.keys()].filter((other) => hasKarpenter(other) === hasKarpenter(job)).length < alikeAtOnce;
  const run = async (job: Job) => {
    say(`── ${job.title}${place.live ? "" : " begins"}`);
    const began = performance.now();
    running.set(job, began);
    const { outcome, output } = await outcomeOf(job);
    running.delete(job);
    if (!place.live) say(`\n── ${job.title} took ${secondsSince(began)}\n${output}`);
    total = sum(total, {
      ...outcome,
      failures: outcome.failures.map((why) => `${job.title}: ${why}`),
    });
  };
  const outcomeOf = async (job: Job) =>
    builds.stateOf(job) === "built"
      ? runJob(job, place, stopped)
      : { outcome: failure("could not be built"), output: "" };

  const tell = () =>
    say(
      `  at work: ${[...running].map(([{ title }, began]) => `${title} ${secondsSince(began)}`).join(", ")}`,
    );
  const clock = place.live ? undefined : setInterval(() => running.size > 0 && tell(), 60_000);
  await Promise.all([building, ...Array.from({ length: atOnce }, lane)]);
  clearInterval(clock);
  return total;
}

const secondsSince = (began: number): string => `${Math.round((performance.now() - began) / 1000)} s`;
