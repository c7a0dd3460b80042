import { globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { pagesFolder } from "../../scripts/pages-folder.ts";
import { buildFolder } from "../../test/real/engines/build.ts";
import { burst } from "./burst.ts";
import { coldStart } from "./cold-start.ts";
import { endToEnd } from "./end-to-end.ts";
import type { Bench, Size } from "./figure.ts";
import { kubernetesClients } from "./kubernetes-clients.ts";
import { launchCost } from "./launch-cost.ts";
import { manyNodes } from "./many-nodes.ts";
import { marking } from "./marking.ts";
import { circumstances, page, type Result, tableOf } from "./page.ts";
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

Without a name all are run. Figures go to build/bench.json; --write also puts them into docs/performance.md.
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
if (values.write && positionals.length > 0) {
  process.stderr.write("--write writes the whole page: run all benchmarks for it\n");
  process.exit(2);
}

const size: Size = values.quick ? "quick" : "whole";
const into = values.into ?? (values.quick ? join(buildFolder, "bench-quick") : undefined);

const writesFigures = values.write === true && size === "whole";
if (writesFigures) await refuseWhenBusy();

const results: Result[] = [];
for (const bench of benches) {
  if (positionals.length > 0 && !positionals.includes(bench.name)) continue;
  process.stderr.write(`${bench.title} …\n`);
  const result = { bench, ...(await bench.run(size)) };
  results.push(result);
  process.stdout.write(`\n${tableOf(result)}\n`);
}
writeFigures(into ?? buildFolder);
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
  const figures = { ...circumstances(), size, results: results.map(plain) };
  writeFileSync(join(folder, "bench.json"), `${JSON.stringify(figures, undefined, 2)}\n`);
}

function writePage(folder: string): void {
  const images = join(folder, "images");
  mkdirSync(images, { recursive: true });
  for (const old of globSync("bench-*.svg", { cwd: images })) rmSync(join(images, old));
  for (const plot of results.flatMap(({ plots = [] }) => plots)) {
    writeFileSync(join(images, `bench-${plot.name}.svg`), drawPlot(plot));
  }
  writeFileSync(join(folder, "performance.md"), page(results, size));
}

function plain({ bench, figures, plots }: Result) {
  return { name: bench.name, title: bench.title, figures, plots };
}
