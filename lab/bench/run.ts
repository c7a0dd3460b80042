import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Progress } from "../../cli/terminal/progress.ts";
import { processTerminal } from "../../cli/terminal/terminal.ts";
import { pagesFolder } from "../../scripts/pages-folder.ts";
import { buildFolder } from "../../test/real/engines/build.ts";
import { burst } from "./burst.ts";
import { coldStart } from "./cold-start.ts";
import { endToEnd } from "./end-to-end.ts";
import { type Bench, type Size, sum } from "./figure.ts";
import { kubernetesClients } from "./kubernetes-clients.ts";
import { launchCost } from "./launch-cost.ts";
import { manyNodes } from "./many-nodes.ts";
import { marking } from "./marking.ts";
import { observeCircumstances, pageWith, type Result, sectionOf } from "./page.ts";
import { drawPlot } from "./plot.ts";
import { whyBusy } from "./quiet.ts";
import { sweep } from "./sweep.ts";

const benches: readonly Bench[] = [
  marking,
  kubernetesClients,
  launchCost,
  burst,
  manyNodes,
  coldStart,
  endToEnd,
  sweep,
];

const help = `Measures the holder beside what limits it, side by side in one run.

usage: npm run bench [-- BENCH …] [--write] [--quick] [--into FOLDER]

  ${benches.map(({ name, title }) => `${name.padEnd(14)} ${title}`).join("\n  ")}

Without a name all are run. Figures go to build/bench; --write also puts them into docs/performance.md,
where the sections of other benchmarks stay as they are.
On a machine that is busy with other work no page is written.
--quick is smaller, to see that it works: its figures say nothing, and go to build/bench-quick.
--into FOLDER puts all of it there.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: "boolean", short: "h" },
    write: { type: "boolean" },
    quick: { type: "boolean", default: false },
    into: { type: "string" },
  },
});
if (values.help) {
  process.stdout.write(`${help}\n`);
  process.exit(0);
}
const unknown = positionals.filter((name) => !benches.some((bench) => bench.name === name));
if (unknown.length > 0) {
  process.stderr.write(`there is no benchmark "${unknown.join(", ")}"\n\n${help}\n`);
  process.exit(2);
}
const size: Size = values.quick ? "quick" : "whole";
const into = values.into ?? (values.quick ? join(buildFolder, "bench-quick") : undefined);

const writesFigures = values.write === true && size === "whole";
if (writesFigures) await refuseWhenBusy();

const chosen = benches.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const progress = new Progress(sum(chosen.map(({ seconds }) => seconds)), processTerminal());
const results: Result[] = [];
for (const bench of chosen) {
  const task = progress.begin(bench.title, bench.seconds);
  const circumstances = observeCircumstances();
  const measured = await bench.run(size, task.advance);
  task.end(`${bench.title}: measured`);
  const result = { bench, size, ...measured, circumstances: circumstances() };
  results.push(result);
  process.stdout.write(`\n${sectionOf(result)}\n`);
}
progress.stop();
writeFigures(join(into ?? buildFolder, "bench"));
if (writesFigures) await refuseWhenBusy();
if (values.write) writePage(pagesFolder(into));

/** Before anything is measured, and again before it is written: the other work may have begun meanwhile. */
async function refuseWhenBusy(): Promise<void> {
  const why = await whyBusy();
  if (why === undefined) return;
  process.stderr.write(`${why}\n`);
  process.exit(1);
}

function writeFigures(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const { bench, ...result } of results) {
    const figures = { name: bench.name, title: bench.title, ...result };
    writeFileSync(join(folder, `${bench.name}.json`), `${JSON.stringify(figures, undefined, 2)}\n`);
  }
}

function writePage(folder: string): void {
  const images = join(folder, "images");
  mkdirSync(images, { recursive: true });
  for (const plot of results.flatMap(({ plots = [] }) => plots)) {
    writeFileSync(join(images, `bench-${plot.name}.svg`), drawPlot(plot));
  }
  const page = join(folder, "performance.md");
  const old = existsSync(page) ? readFileSync(page, "utf8") : "";
  writeFileSync(page, pageWith(results, old, benches));
}
