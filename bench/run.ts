import { globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { burst } from "./burst.ts";
import { coldStart } from "./cold-start.ts";
import { endToEnd } from "./end-to-end.ts";
import type { Bench } from "./figure.ts";
import { launchCost } from "./launch-cost.ts";
import { manyNodes } from "./many-nodes.ts";
import { marking } from "./marking.ts";
import { circumstances, page, type Result, tableOf } from "./page.ts";
import { drawPlot } from "./plot.ts";

const benches: readonly Bench[] = [marking, launchCost, burst, manyNodes, coldStart, endToEnd];

const help = `Measures the holder beside what limits it, side by side in one run.

usage: npm run bench [-- BENCH …] [--write]

  ${benches.map(({ name, title }) => `${name.padEnd(14)} ${title}`).join("\n  ")}

Without a name all are run. Figures go to build/bench.json; --write also puts them into docs/performance.md.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { help: { type: "boolean", short: "h" }, write: { type: "boolean" } },
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

const results: Result[] = [];
for (const bench of benches) {
  if (positionals.length > 0 && !positionals.includes(bench.name)) continue;
  process.stderr.write(`${bench.title} …\n`);
  const result = { bench, ...(await bench.run()) };
  results.push(result);
  process.stdout.write(`\n${tableOf(result)}\n`);
}
mkdirSync("build", { recursive: true });
writeFileSync(
  "build/bench.json",
  `${JSON.stringify({ ...circumstances(), results: results.map(plain) }, undefined, 2)}\n`,
);
if (values.write) {
  for (const old of globSync("docs/images/bench-*.svg")) rmSync(old);
  for (const plot of results.flatMap(({ plots = [] }) => plots)) {
    writeFileSync(`docs/images/bench-${plot.name}.svg`, drawPlot(plot));
  }
  writeFileSync("docs/performance.md", page(results));
}

function plain({ bench, figures, plots }: Result) {
  return { name: bench.name, title: bench.title, figures, plots };
}
