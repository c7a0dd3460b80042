import { parseArgs } from "node:util";
import { Progress } from "../../cli/terminal/progress.ts";
import { processTerminal } from "../../cli/terminal/terminal.ts";
import { writeBlock } from "../../scripts/page-block.ts";
import { events } from "./events.ts";
import type { Bench, Figure, Size } from "./figure.ts";
import { launch } from "./launch.ts";
import { look } from "./look.ts";
import { marking } from "./marking.ts";
import { whyBusy } from "./quiet.ts";
import { figuresTable, observeCircumstances } from "./table.ts";

const benches: readonly Bench[] = [marking, launch, look, events];

const help = `Measures the holder beside what limits it, side by side in one run.

usage: npm run bench [-- BENCH …] [--write] [--quick] [--into FOLDER]

  ${benches.map(({ name, title }) => `${name.padEnd(12)} ${title}`).join("\n  ")}

Without a name all are run. --write runs all, and puts their figures into docs/proven.md;
on a machine that is busy with other work it writes nothing.
--quick is smaller, only to see that everything works: its figures mean nothing.
--into FOLDER writes the page into that folder instead.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: "boolean", short: "h" },
    write: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    into: { type: "string" },
  },
});
if (values.help) {
  process.stdout.write(`${help}\n`);
  process.exit(0);
}
const unknown = positionals.filter((name) => !benches.some((bench) => bench.name === name));
if (unknown.length > 0) refuse(`there is no benchmark "${unknown.join(", ")}"`);
if (values.write && positionals.length > 0) refuse("--write runs all benchmarks: name none");
if (values.write && values.quick && values.into === undefined) refuse("--quick --write needs --into");
const size: Size = values.quick ? "quick" : "whole";
const needsQuiet = values.write && size === "whole";

if (needsQuiet) await refuseWhenBusy();
const chosen = benches.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const progress = new Progress(
  chosen.reduce((sum, { seconds }) => sum + seconds, 0),
  processTerminal(),
);
const circumstances = observeCircumstances();
const figures: Figure[] = [];
for (const bench of chosen) {
  const task = progress.begin(bench.title, bench.seconds);
  figures.push(...(await bench.run(size, task.advance)));
  task.end(`${bench.title}: measured`);
}
progress.stop();
const block = figuresTable(figures, circumstances(), size);
process.stdout.write(`\n${block}\n`);
if (needsQuiet) await refuseWhenBusy();
if (values.write) writeBlock({ page: "proven.md", command: "npm run bench", block, into: values.into });

function refuse(why: string): never {
  process.stderr.write(`${why}\n\n${help}\n`);
  process.exit(2);
}

/** Before anything is measured, and again before it is written: the other work may have begun meanwhile. */
async function refuseWhenBusy(): Promise<void> {
  const why = await whyBusy();
  if (why === undefined) return;
  process.stderr.write(`${why}\n`);
  process.exit(1);
}
