import { parseArgs } from "node:util";
import { Progress } from "../../cli/terminal/progress.ts";
import { processTerminal } from "../../cli/terminal/terminal.ts";
import { check } from "./check.ts";

/** Runs of one seed. */
const chunk = 2_000;

const { values } = parseArgs({
  options: {
    runs: { type: "string" },
    seed: { type: "string" },
    path: { type: "string" },
    "good-day": { type: "boolean", default: false },
    help: { type: "boolean", short: "h" },
  },
});
if (values.help) {
  console.log("usage: npm run torture -- [--runs COUNT] [--seed NUMBER] [--path PATH] [--good-day]");
  process.exit();
}
const seed = wholeNumber("--seed", values.seed ?? String(Date.now() % 1_000_000_000));
const runs = wholeNumber("--runs", values.runs ?? "100000");
const isGoodDay = values["good-day"];
process.exitCode = values.path === undefined ? await torture() : await replay(values.path);

/** Each chunk has its own seed, so that a failure is replayed without the chunks before it. */
async function torture(): Promise<number> {
  const progress = new Progress(runs, processTerminal());
  for (let done = 0; done < runs; done += chunk) {
    const ofChunk = Math.min(chunk, runs - done);
    const task = progress.begin(`${done} of ${runs} runs played, every rule held`, ofChunk);
    const broken = await check({ seed: seed + done / chunk, runs: ofChunk, isGoodDay });
    task.end();
    if (broken !== undefined) {
      progress.print(`broken after at most ${done + ofChunk} runs:\n${broken}`);
      return 1;
    }
  }
  progress.stop();
  console.log(`${runs} runs played, every rule held`);
  return 0;
}

async function replay(path: string): Promise<number> {
  const broken = await check({ seed, runs: chunk, path, isGoodDay });
  console.log(broken ?? "the run passes now");
  return broken === undefined ? 0 : 1;
}

function wholeNumber(name: string, text: string): number {
  const read = Number(text);
  if (Number.isSafeInteger(read) && read >= 0) return read;
  console.error(`${name} must be a whole number, not "${text}"`);
  process.exit(2);
}
