import { Argument, Command } from "commander";
import { Progress } from "../../cli/terminal/progress.ts";
import { processTerminal } from "../../cli/terminal/terminal.ts";
import { writeBlock } from "../../scripts/page-block.ts";
import { events } from "./events.ts";
import type { Bench, Figure } from "./figure.ts";
import { launch } from "./launch.ts";
import { look } from "./look.ts";
import { marking } from "./marking.ts";
import { whyBusy } from "./quiet.ts";
import { figuresTable, observeCircumstances } from "./table.ts";

const benches: readonly Bench[] = [marking, launch, look, events];
const titles = benches.map(({ name, title }) => `  ${name.padEnd(12)} ${title}`);

type Options = Readonly<{ write?: true; quick?: true; into?: string }>;

const command = new Command("npm run bench --")
  .description("Measure the holder beside what limits it, side by side in one run.")
  .addArgument(new Argument("[bench...]", "all unless named").choices(benches.map(({ name }) => name)))
  .option("--write", "run all, and put their figures into docs/proven.md; not on a busy machine")
  .option("--quick", "smaller, only to see that everything works: its figures mean nothing")
  .option("--into <folder>", "with --write: write the page into that folder instead")
  .addHelpText("after", `\nBenchmarks:\n${titles.join("\n")}`)
  .showHelpAfterError()
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .action(measure);
await command.parseAsync();

async function measure(names: readonly string[], { write, quick, into }: Options): Promise<void> {
  if (write && names.length > 0) command.error("error: --write runs all benchmarks: name none");
  if (write && quick && into === undefined) command.error("error: --quick --write needs --into");
  const size = quick ? "quick" : "whole";
  const needsQuiet = write && !quick;
  if (needsQuiet) await refuseWhenBusy();
  const chosen = benches.filter(({ name }) => names.length === 0 || names.includes(name));
  const total = chosen.reduce((sum, { seconds }) => sum + seconds, 0);
  const progress = new Progress(total, processTerminal());
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
  if (write) writeBlock({ page: "proven.md", command: "npm run bench", block, into });
}

/** Before anything is measured, and again before it is written: the other work may have begun meanwhile. */
async function refuseWhenBusy(): Promise<void> {
  const why = await whyBusy();
  if (why === undefined) return;
  process.stderr.write(`${why}\n`);
  process.exit(1);
}
