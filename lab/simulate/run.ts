import { parseArgs } from "node:util";
import { Progress } from "../../cli/terminal/progress.ts";
import { processTerminal } from "../../cli/terminal/terminal.ts";
import { minutes } from "../../lambda/core/duration.ts";
import { writeBlock } from "../../scripts/page-block.ts";
import { type Measured, measure, ratiosOf, stepsFor, terms } from "./measure.ts";
import { figuresOf, goalCount, plotFile, plotOf, ratiosTable } from "./page.ts";
import { traceOfPods } from "./traces.ts";

const help = `Plays bursts of varying size, and compares what it costs to keep their nodes with the least possible.

usage: npm run simulate -- [--traces COUNT] [--write] [--into FOLDER]
       npm run simulate -- --pods FILE [--cores COUNT]

--traces COUNT  traces of each family and number of bursts (default 60); the same number gives the same figures
--pods FILE     play the pods of a file instead: CSV with the columns scheduled_s, deleted_s and cpu_milli
--cores COUNT   cores of the nodes that these pods are packed on (default 32)
--write         put the figures into docs/auto.md and its plot into docs/images
--into FOLDER   write the page with its plot into that folder instead`;

const { values } = parseArgs({
  options: {
    help: { type: "boolean", short: "h" },
    traces: { type: "string", default: "60" },
    pods: { type: "string" },
    cores: { type: "string", default: "32" },
    write: { type: "boolean" },
    into: { type: "string" },
  },
});
if (values.help) {
  process.stdout.write(`${help}\n`);
  process.exit(0);
}
const traces = wholeNumber("--traces", values.traces);
const cores = wholeNumber("--cores", values.cores);

if (values.pods) {
  const trace = traceOfPods(values.pods, cores);
  const rows = [3, 10, 30].map((minute) => {
    const limits = { ...terms, relaunchCost: minutes(minute) };
    return [`\`relaunchCost\` ${minute}m`, ratiosOf(trace, limits)] as const;
  });
  const most = Math.max(...trace.map(({ nodes }) => nodes));
  process.stdout.write(`${trace.length} changes of need, at most ${most} nodes\n\n${ratiosTable(rows)}\n`);
  process.exit(0);
}

const steps = stepsFor([12, 36, 72, goalCount]);
const progress = new Progress(
  steps.reduce((sum, { count }) => sum + count, 0),
  processTerminal(),
);
const measured: Measured[] = [];
for (const step of steps) {
  const task = progress.begin(`${step.count} bursts, ${step.family}`, step.count);
  measured.push(measure(step, traces, task.advance));
  task.end();
}
progress.stop();

const figures = figuresOf(measured, traces);
process.stdout.write(`\n${figures}\n`);
if (values.write || values.into)
  writeBlock({
    page: "auto.md",
    command: "npm run simulate",
    block: figures,
    pictures: { [plotFile]: plotOf(measured) },
    into: values.into,
  });

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 1) return number;
  process.stderr.write(`${name} must be a whole number from 1, not "${text}"\n\n${help}\n`);
  process.exit(2);
}
