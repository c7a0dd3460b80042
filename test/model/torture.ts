import { once } from "node:events";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { Progress } from "../../cli/terminal/progress.ts";
import { processTerminal } from "../../cli/terminal/terminal.ts";
import { check, isKind, type Kind, type Replay } from "./check.ts";

/** Runs of one seed. */
const chunk = 2_000;

const { values } = parseArgs({
  options: {
    runs: { type: "string" },
    seed: { type: "string" },
    path: { type: "string" },
    kind: { type: "string", default: "any" },
    parallel: { type: "string", default: String(availableParallelism()) },
    help: { type: "boolean", short: "h" },
  },
});
if (values.help) {
  console.log(
    "usage: npm run torture -- [--runs COUNT] [--seed NUMBER] [--path PATH] [--kind any|good-day|habit] [--parallel COUNT]",
  );
  process.exit();
}
const seed = wholeNumber("--seed", values.seed ?? String(Date.now() % 1_000_000_000));
const runs = wholeNumber("--runs", values.runs ?? "100000");
const parallel = wholeNumber("--parallel", values.parallel, 1);
const { kind } = values;
if (!isKind(kind)) {
  console.error(`--kind must be any, good-day or habit, not "${kind}"`);
  process.exit(2);
}
process.exitCode = values.path === undefined ? await torture(kind) : await replay(values.path, kind);

/** Each chunk has its own seed, so that a failure is replayed without the chunks before it; each worker plays its own. */
async function torture(kind: Kind): Promise<number> {
  const progress = new Progress(1, processTerminal());
  const task = progress.begin(`${runs} runs`);
  let begun = 0;
  let played = 0;
  let broken: string | undefined;
  const playChunks = async () => {
    const worker = new Worker(new URL("torture-worker.ts", import.meta.url));
    while (begun < runs && broken === undefined) {
      const replay = { seed: seed + begun / chunk, runs: Math.min(chunk, runs - begun), kind };
      begun += replay.runs;
      worker.postMessage(replay satisfies Replay);
      const [found]: (string | undefined)[] = await once(worker, "message");
      played += replay.runs;
      broken ??= found;
      if (broken === undefined) task.advance(played / runs, `${played} played, every rule held`);
    }
    await worker.terminate();
  };
  await Promise.all(Array.from({ length: Math.min(parallel, Math.ceil(runs / chunk)) }, playChunks));
  progress.stop();
  console.log(
    broken === undefined
      ? `${runs} runs played, every rule held`
      : `broken after at most ${played} runs:\n${broken}`,
  );
  return broken === undefined ? 0 : 1;
}

async function replay(path: string, kind: Kind): Promise<number> {
  const broken = await check({ seed, runs: chunk, path, kind });
  console.log(broken ?? "the run passes now");
  return broken === undefined ? 0 : 1;
}

function wholeNumber(name: string, text: string, least = 0): number {
  const read = Number(text);
  if (Number.isSafeInteger(read) && read >= least) return read;
  console.error(`${name} must be a whole number from ${least} on, not "${text}"`);
  process.exit(2);
}
