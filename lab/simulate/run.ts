import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { formatDuration, seconds } from "../../lambda/core/duration.ts";
import { pagesFolder } from "../../scripts/pages-folder.ts";
import { type Measured, measure, stepsFor, workOf } from "./measure.ts";
import { figuresOf, goalCount, plotFile, plotOf, withFigures } from "./page.ts";

const help = `Plays generated bursts through the decision of hold=auto and compares its cost with the best constant length.

usage: npm run simulate -- [--traces COUNT] [--write] [--into FOLDER]

--traces COUNT  traces of each family and number of bursts (default 200); the same number gives the same figures
--write         put the figures into docs/auto.md and its plot into docs/images
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
const begun = performance.now();
let doneWork = 0;
const measured: Measured[] = [];
for (const step of steps) {
  measured.push(measure(step, traces));
  doneWork += workOf(step);
  const left = ((performance.now() - begun) / doneWork) * (allWork - doneWork);
  const share = Math.round((100 * doneWork) / allWork);
  const estimate = share < 100 ? `, about ${formatDuration(Math.max(left, seconds(1)))} left` : "";
  process.stderr.write(`${step.count} bursts, ${step.family}: ${share} % done${estimate}\n`);
}

const figures = figuresOf(measured, traces);
process.stdout.write(`\n${figures}\n`);
if (values.write || values.into) {
  const folder = pagesFolder(values.into);
  mkdirSync(dirname(join(folder, plotFile)), { recursive: true });
  const page = readFileSync(join(pagesFolder(), "auto.md"), "utf8");
  writeFileSync(join(folder, "auto.md"), withFigures(page, figures));
  writeFileSync(join(folder, plotFile), plotOf(measured));
}
