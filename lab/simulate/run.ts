import { parseArgs } from "node:util";
import { Progress } from "../../cli/terminal/progress.ts";
import { processTerminal } from "../../cli/terminal/terminal.ts";
import { writeBlock } from "../../scripts/page-block.ts";
import { type Measured, measure, stepsFor, workOf } from "./measure.ts";
import { figuresOf, goalCount, plotFile, plotOf } from "./page.ts";

const help = `Plays generated bursts through the decision of hold=auto and compares its cost with the best constant length.

usage: npm run simulate -- [--traces COUNT] [--write] [--into FOLDER]

--traces COUNT  traces of each family and number of bursts (default 200); the same number gives the same figures
--write         put the figures into docs/demand.md and its plot into docs/images
--into FOLDER   write the page with its plot into that folder instead`;

const { values } = parseArgs({
  options: {
    help: { type: "boolean", short: "h" },
    traces: { type: "string", default: "200" },
    write: { type: "boolean" },
    into: { type: "string" },
  },
});
if (values.help) {
  process.stdout.write(`${help}\n`);
  process.exit(0);
}
const traces = Number(values.traces);
if (!Number.isSafeInteger(traces) || traces < 1) {
  process.stderr.write(`--traces must be a whole number from 1, not "${values.traces}"\n\n${help}\n`);
  process.exit(2);
}

const steps = stepsFor([12, goalCount, 72, 144]);
const allWork = steps.reduce((sum, step) => sum + workOf(step), 0);
const progress = new Progress(allWork, processTerminal());
const measured: Measured[] = [];
for (const step of steps) {
  const task = progress.begin(`${step.count} bursts, ${step.family}`, workOf(step));
  measured.push(measure(step, traces, task.advance));
  task.end();
}
progress.stop();

const figures = figuresOf(measured, traces);
process.stdout.write(`\n${figures}\n`);
if (values.write || values.into)
  writeBlock({
    page: "demand.md",
    command: "npm run simulate",
    block: figures,
    pictures: { [plotFile]: plotOf(measured) },
    into: values.into,
  });
