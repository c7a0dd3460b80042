import { basename } from "node:path";
import { CommanderError } from "commander";
import { Progress } from "../../cli/terminal/progress.ts";
import { Exit, processTerminal } from "../../cli/terminal/terminal.ts";
import { BadInputError, messageOf } from "../../lambda/core/errors.ts";
import { buildLab, labVersions } from "../../test/real/engines/build-lab.ts";
import { command, type Options } from "./options.ts";
import { writePage } from "./page/page.ts";
import { tablesOf } from "./page/table.ts";
import { playAll, sizeOf } from "./play-all.ts";
import type { RunResult } from "./result.ts";
import { Results } from "./results.ts";
import { loadTrace, type Prepared, prepare, type Source, type Spec } from "./spec.ts";
import { longestPart, spanOf } from "./traces/pods.ts";
import type { Trace } from "./traces/trace.ts";
import { armNames, specsOf, wholeComparison } from "./whole.ts";

const print = (line: string) => process.stderr.write(`${line}\n`);

const main = command().action(lab);
try {
  await main.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? Exit.done : Exit.usage;
  else if (error instanceof BadInputError) {
    print(messageOf(error));
    process.exitCode = Exit.usage;
  } else {
    print(messageOf(error));
    process.exitCode = Exit.failed;
  }
}

async function lab(options: Options): Promise<void> {
  const results = new Results(options.results);
  const runs = await prepareAll(await specsFor(options));
  if (options.page) return page(runs, results, options.into);
  const stored = runs.filter((run) => !options.fresh && results.find(run));
  const missing = runs.filter((run) => !stored.includes(run));
  const find = (some: readonly Prepared[]) => some.flatMap((run) => results.find(run) ?? []);
  const show = (some: readonly Prepared[]) => {
    if (options.json) for (const one of find(some)) process.stdout.write(`${JSON.stringify(one)}\n`);
  };
  show(stored);
  if (stored.length > 0) print(`${stored.length} of ${runs.length} runs are stored.`);
  // A trace and its copy are one run.
  const different = [...new Map(missing.map((run) => [run.key, run])).values()];
  const isComplete = await measure(different, options, (result) => {
    results.add(result);
    show(missing.filter(({ key }) => key === result.key));
  });
  const found = find(runs);
  if (!options.json && found.length > 0) process.stdout.write(`${tablesOf(found)}\n`);
  if (!isComplete) process.exitCode = Exit.failed;
}

function page(runs: readonly Prepared[], results: Results, into: string | undefined): void {
  const found = runs.flatMap((run) => results.find(run) ?? []);
  if (found.length === 0) throw new Error("No run of the comparison is stored: run it without --page first.");
  const file = writePage({ results: found, wanted: runs.length, into });
  print(`Written: ${file} and its picture, from ${found.length} of ${runs.length} runs.`);
}

async function specsFor(options: Options): Promise<readonly Spec[]> {
  const { trace, pods, arms, karpenter, types, seed, page: isPage, into } = options;
  const refused = (problem: string) => new BadInputError("These flags cannot be used", [problem]);
  if (pods === undefined && (options.from ?? options.lasts) !== undefined)
    throw refused("--from and --lasts need --pods");
  if (pods !== undefined && trace !== undefined) throw refused("give either --trace or --pods");
  if (into !== undefined && !isPage) throw refused("--into needs --page");
  const isChosen = [trace, pods, arms, karpenter, types, seed].some((one) => one !== undefined);
  if (isChosen && isPage && into === undefined)
    throw refused("--page of a part of the comparison needs --into");
  if (!isChosen) return wholeComparison(labVersions);
  const sources: readonly Source[] = pods
    ? [await partOf(pods, options)]
    : (trace ?? [{ kind: "name", name: "day" }]);
  const specs = specsOf({
    sources,
    arms: arms ?? armNames,
    karpenter: karpenter ?? labVersions.slice(0, 1),
    types: types ?? ["one"],
    seeds: seed ?? [1],
  });
  if (specs.length === 0) throw refused("no chosen Karpenter is new enough for the arms");
  return specs;
}

async function partOf(file: string, { from, lasts }: Options): Promise<Source> {
  const span = await spanOf(file);
  const begin = from ?? span.first;
  const length = lasts ?? span.last - begin;
  const refused = (advice: string) =>
    new BadInputError(file, [`its pods ran from second ${span.first} to ${span.last}: ${advice}`]);
  if (from !== undefined && from >= span.last) throw refused("--from must be before the end");
  if (length > longestPart) throw refused("choose at most 14 days with --from and --lasts");
  return { kind: "pods", name: basename(file), file, from: begin, lasts: length };
}

/** Loads each trace once. */
async function prepareAll(specs: readonly Spec[]): Promise<readonly Prepared[]> {
  const loaded = new Map<string, Promise<Trace>>();
  const load = (source: Source, seed: number) => {
    const name = JSON.stringify([source, source.kind === "name" ? seed : 0]);
    const trace = loaded.get(name) ?? loadTrace(source, seed, print);
    loaded.set(name, trace);
    return trace;
  };
  const prepared: Prepared[] = [];
  for (const spec of specs) prepared.push(await prepare(spec, load));
  return prepared;
}

/** Builds the engines, then plays; whether every run has a result. */
async function measure(
  runs: readonly Prepared[],
  { parallel }: Options,
  onResult: (result: RunResult) => void,
): Promise<boolean> {
  if (runs.length === 0) return true;
  for (const version of new Set(runs.map(({ spec }) => spec.karpenter))) await buildLab(version);
  const stopping = new AbortController();
  const stop = () => {
    if (stopping.signal.aborted) process.exit(Exit.failed);
    stopping.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
  const total = runs.reduce((sum, run) => sum + sizeOf(run), 0);
  const progress = new Progress(total, processTerminal());
  let done = 0;
  const failures = await playAll(runs, {
    parallel,
    progress,
    stopped: stopping.signal,
    onResult: (result) => {
      done += 1;
      onResult(result);
    },
  });
  progress.stop();
  if (stopping.signal.aborted)
    print(`Stopped: ${done} runs are stored, and the same command plays the others.`);
  else if (failures.length > 0) print(`${failures.length} of ${runs.length} runs failed.`);
  return done === runs.length;
}
