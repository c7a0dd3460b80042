import { forEachConcurrent } from "../../lambda/kubernetes/for-each-concurrent.ts";
import { buildLab, labVersions } from "../../test/real/engines/build-lab.ts";
import { allowedShare } from "./agreement.ts";
import { compare } from "./compare.ts";
import { type Played, playOnWallClock, type Trial } from "./play.ts";

/*
 * Whether the lab agrees with the wall clock: `node lab/wall-clock/agree.ts` plays short traces with the same holder on a
 * real API server, scheduler and Karpenter, and on the virtual clock, twice as long as the suite `churn` and several times.
 * It takes about half an hour; name traces for less.
 */

const all = ["single", "rollout", "roll", "dense", "shrink", "vary"];
const traces = process.argv.length > 2 ? process.argv.slice(2) : all;
const arm = "hold-100s";
/** Runs on the wall clock for each trace, how many at once, and runs in virtual time. */
const [repeats, atOnce, chances] = [2, 4, 8];

const print = (line: string) => process.stdout.write(`${line}\n`);
const trials: readonly Trial[] = traces.map((trace) => ({ trace, arm, seed: 1, share: 1 }));
const began = performance.now();
const age = () => `${Math.round((performance.now() - began) / 60_000)} min`;

await buildLab(labVersions[0] ?? "");
const wall = new Map<Trial, Played[]>(trials.map((trial) => [trial, []]));
const runs = Array.from({ length: repeats }, () => trials).flat();
let done = 0;
await forEachConcurrent(runs, atOnce, async (trial) => {
  wall.get(trial)?.push(await playOnWallClock(trial));
  done += 1;
  process.stderr.write(`${trial.trace}: ${done} of ${runs.length} runs on the wall clock after ${age()}\n`);
});

let different = 0;
for (const trial of trials) {
  const { line, differences } = await compare(wall.get(trial) ?? [], chances);
  const verdict = differences.length === 0 ? "agree" : `DIFFER in ${differences.join(" and ")}`;
  if (differences.length > 0) different += 1;
  print(`${trial.trace}: ${line}: ${verdict}`);
}
print(
  `${traces.length - different} of ${traces.length} traces agree: ranges of node time meet within ${100 * allowedShare} %, those of launches and evictions within one launch, two evictions or 10 % (wall clock : virtual time; ${age()}).`,
);
process.exitCode = different === 0 ? 0 : 1;
