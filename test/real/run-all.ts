import { setTimeout as sleep } from "node:timers/promises";
import { Builds } from "./builds.ts";
import type { Job } from "./jobs.ts";
import { type Counts, type Place, runJob } from "./run-job.ts";

const say = (text: string) => process.stderr.write(`${text}\n`);

/** Runs all jobs, two at a time: most of their time they wait for Karpenter's timers. */
export async function runAll(jobs: readonly Job[], place: Place, stopped: AbortSignal): Promise<Counts> {
  const builds = new Builds();
  const building = builds.build(jobs, stopped);
  const waiting = [...jobs];
  const running = new Map<string, number>();
  const total = { passed: 0, failed: 0, skipped: 0 };

  // One lane takes jobs from the front and one from the back, so that the like, which are neighbours, seldom run together.
  const lane = async (at: 0 | -1) => {
    while (waiting.length > 0 && !stopped.aborted) {
      const job = waiting.filter((each) => builds.stateOf(each) !== "building").at(at);
      if (job) await run(waiting.splice(waiting.indexOf(job), 1)[0] ?? job);
      else await sleep(200);
    }
  };
  const run = async (job: Job) => {
    say(`── ${job.title}${place.live ? "" : " begins"}`);
    const began = performance.now();
    running.set(job.title, began);
    const { counts, output } = await outcomeOf(job);
    running.delete(job.title);
    if (!place.live) say(`\n── ${job.title} took ${secondsSince(began)}\n${output}`);
    for (const key of ["passed", "failed", "skipped"] as const) total[key] += counts[key];
  };
  const outcomeOf = async (job: Job) =>
    builds.stateOf(job) === "built"
      ? runJob(job, place, stopped)
      : { counts: { passed: 0, failed: 1, skipped: 0 }, output: "It could not be built." };

  const tell = () =>
    say(`  at work: ${[...running].map(([title, began]) => `${title} ${secondsSince(began)}`).join(", ")}`);
  const clock = place.live ? undefined : setInterval(() => running.size > 0 && tell(), 60_000);
  await Promise.all([building, lane(0), lane(-1)]);
  clearInterval(clock);
  return total;
}

const secondsSince = (began: number): string => `${Math.round((performance.now() - began) / 1000)} s`;
