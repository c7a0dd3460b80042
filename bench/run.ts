import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, release, type } from "node:os";
import { parseArgs } from "node:util";
import { version } from "../lambda/version.ts";
import { burst } from "./burst.ts";
import { coldStart } from "./cold-start.ts";
import type { Bench, Figure } from "./figure.ts";
import { launchCost } from "./launch-cost.ts";
import { manyNodes } from "./many-nodes.ts";
import { marking } from "./marking.ts";
import { plotOf } from "./plot.ts";

const benches: readonly Bench[] = [marking, launchCost, burst, manyNodes, coldStart];

const help = `Measures the holder beside what limits it, side by side in one run.

usage: npm run bench [-- BENCH …] [--write]

  ${benches.map(({ name, title }) => `${name.padEnd(14)} ${title}`).join("\n  ")}

Without a name all are run. Figures go to build/bench.json; --write also puts them into docs/performance.md.`;

type Result = Readonly<{ bench: Bench; figures: readonly Figure[] }>;

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

const results: Result[] = [];
for (const bench of benches) {
  if (positionals.length > 0 && !positionals.includes(bench.name)) continue;
  process.stderr.write(`${bench.title} …\n`);
  const figures = await bench.run();
  results.push({ bench, figures });
  process.stdout.write(`\n${tableOf({ bench, figures })}\n`);
}
mkdirSync("build", { recursive: true });
writeFileSync(
  "build/bench.json",
  `${JSON.stringify({ machine: machine(), results: results.map(plain) }, undefined, 2)}\n`,
);
if (values.write) {
  for (const { bench, figures } of results) {
    const plot = plotOf(bench, figures);
    if (plot) writeFileSync(`docs/${imageOf(bench)}`, plot);
  }
  writeFileSync("docs/performance.md", page(results));
}

function plain({ bench, figures }: Result) {
  return { name: bench.name, title: bench.title, figures };
}

function tableOf({ bench, figures }: Result): string {
  const rows = figures.map((one) => {
    const reached = one.reached === undefined ? "" : one.reached ? "yes" : "**no**";
    return `| ${one.what} | ${one.value} | ${one.beside ?? ""} | ${one.goal ?? ""} | ${reached} |`;
  });
  return [
    `## ${bench.title}`,
    "",
    "| What | Measured | Beside it | Goal | Reached |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
    "",
  ].join("\n");
}

function imageOf(bench: Bench): string {
  return `images/bench-${bench.name}.svg`;
}

function sectionOf({ bench, figures }: Result): string {
  const picture = bench.axis ? `![${bench.title}](${imageOf(bench)})\n\n` : "";
  return `${tableOf({ bench, figures })}\n${picture}`;
}

function page(all: readonly Result[]): string {
  const intro = [
    "# Performance",
    "",
    "Written by `npm run bench -- --write`. Every figure stands beside its limit, measured in turns in the same run; medians.",
    "",
    `Machine: ${machine()}. Date: ${new Date().toISOString().slice(0, 10)}.`,
    "",
    "",
  ];
  return intro.join("\n") + all.map(sectionOf).join("");
}

function machine(): string {
  const processors = cpus();
  return `${processors.length} × ${processors[0]?.model ?? "processor"}, ${type()} ${release()}, Node ${process.version}, holder ${version}`;
}
