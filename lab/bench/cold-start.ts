import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { Environment, SettingEnvironment } from "../../lambda/environment.ts";
import { type Part, parts } from "../../lambda/names.ts";
import { bundleInto } from "../../scripts/bundles.ts";
import { type Advance, type Bench, count, type Figure, median, ms, type Plot, type Size } from "./figure.ts";

const plans: Readonly<Record<Size, number>> = { whole: 15, quick: 1 };

/** What each function's path uses of its named dependencies, bundled bare. */
const dependencies = {
  dynamodb:
    'export { DynamoDBClient, GetItemCommand, PutItemCommand, QueryCommand } from "@aws-sdk/client-dynamodb";',
  eks: 'export { EKSClient, DescribeClusterCommand } from "@aws-sdk/client-eks";',
  scheduler: 'export { SchedulerClient, CreateScheduleCommand } from "@aws-sdk/client-scheduler";',
  ec2: 'export { EC2Client, DescribeInstancesCommand, paginateDescribeInstances } from "@aws-sdk/client-ec2";',
  sqs: 'export { SQSClient, SendMessageBatchCommand } from "@aws-sdk/client-sqs";',
  powertools:
    'export { Logger } from "@aws-lambda-powertools/logger"; export { Metrics } from "@aws-lambda-powertools/metrics";',
};
type Dependency = keyof typeof dependencies;

const common: readonly Dependency[] = ["dynamodb", "eks", "scheduler", "powertools"];
const uses: Readonly<Record<Part, readonly Dependency[]>> = {
  hold: [...common, "ec2", "sqs"],
  release: common,
  sweep: [...common, "ec2", "sqs"],
  control: [...common, "ec2", "sqs"],
  "cluster-access": ["eks", "powertools"],
};

/** Import time of each function's bundle beside that of its dependencies, in turns, each in a fresh process. */
export const coldStart: Bench = {
  name: "cold-start",
  title: "Cold start: importing each function's bundle",
  seconds: 60,
  async run(size, advance) {
    const folder = mkdtempSync(join(tmpdir(), "cold-start-"));
    try {
      const files: Record<string, string> = {};
      for (const name of Object.keys(dependencies) as Dependency[]) {
        files[name] = await bundleBare(folder, name, [name]);
      }
      const clients: string[] = [];
      for (const part of parts) {
        files[`${part} bare`] = await bundleBare(folder, `${part}-bare`, uses[part]);
        const own = join(folder, `${part}-own`, "index.mjs");
        files[part] = own;
        clients.push(await bundleInto(part, own).then(({ metafile }) => clientsIn(metafile)));
      }
      const times = measure(files, plans[size], advance);
      const all = parts.map((part, i) => ({
        part,
        ...coldOf(part, files, times),
        clients: clients[i] ?? "",
      }));
      return { figures: [...all.map(figureOf), hintOf(all)], plots: [importPlot(all), sizePlot(all)] };
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

type Cold = Readonly<{
  part: Part;
  own: number;
  cpu: number;
  together: number;
  oneByOne: number;
  size: number;
  bareSize: number;
  clients: string;
}>;

function coldOf(part: Part, files: Record<string, string>, times: Record<string, Import>) {
  const timeOf = (name: string) => times[name]?.time ?? Number.NaN;
  const sizeOf = (name: string) => statSync(files[name] ?? "").size / 1000;
  return {
    own: timeOf(part),
    cpu: times[part]?.cpu ?? Number.NaN,
    together: timeOf(`${part} bare`),
    oneByOne: uses[part].reduce((total, name) => total + timeOf(name), 0),
    size: sizeOf(part),
    bareSize: sizeOf(`${part} bare`),
  };
}

const kB = (size: number): string => `${count(Math.round(size))} kB`;

const figureOf = ({ part, own, cpu, together, oneByOne, size, bareSize }: Cold): Figure => ({
  what: `import ${part}`,
  value: `${ms(own)}, of the processor ${ms(cpu)}; ${kB(size)}`,
  beside: `its dependencies as they come: together ${ms(together)}, ${kB(bareSize)}; one by one ${ms(oneByOne)}`,
  goal: "≤ 1.5 × their sum",
  reached: own <= 1.5 * oneByOne,
});

/** A client that a function's path does not use would be compiled for nothing. */
const hintOf = (all: readonly Cold[]): Figure => ({
  what: "AWS clients in the bundles",
  value: all.map(({ part, clients }) => `${part}: ${clients}`).join("; "),
  goal: "none that the function's path does not use",
  reached: all.every(({ part, clients }) => {
    const used = uses[part].filter((name) => name !== "powertools");
    return clients === used.toSorted().join(", ");
  }),
});

type Metafile = Awaited<ReturnType<typeof bundleInto>>["metafile"];

function clientsIn({ outputs }: Metafile): string {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  const clients = inputs.flatMap(([file, { bytesInOutput }]) => {
    const client = file.match(/node_modules\/@aws-sdk\/client-([^/]+)\//)?.[1];
    return client && bytesInOutput > 0 ? [client] : [];
  });
  return [...new Set(clients)].sort().join(", ");
}

const plotOf = (
  name: string,
  title: string,
  unit: string,
  all: readonly Cold[],
  values: (one: Cold) => readonly number[],
): Plot => ({
  name,
  bars: {
    title,
    subtitle: "beside its named dependencies, bundled together as they come",
    y: { label: title.split(" of ")[0]?.toLowerCase() ?? "", unit },
    series: ["the function", "its dependencies as they come"],
    groups: all.map((one) => ({ name: one.part, values: values(one).map(Math.round) })),
  },
});

const importPlot = (all: readonly Cold[]) =>
  plotOf("cold-start", "Import of each function's bundle", "ms", all, ({ own, together }) => [own, together]);
const sizePlot = (all: readonly Cold[]) =>
  plotOf("bundle-size", "Size of each function's bundle", "kB", all, ({ size, bareSize }) => [
    size,
    bareSize,
  ]);

async function bundleBare(folder: string, name: string, needs: readonly Dependency[]): Promise<string> {
  const outfile = join(folder, `${name}.mjs`);
  await build({
    stdin: { contents: needs.map((need) => dependencies[need]).join("\n"), resolveDir: process.cwd() },
    outfile,
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    banner: { js: 'import{createRequire}from"node:module";const require=createRequire(import.meta.url);' },
    mainFields: ["module", "main"],
    minify: true,
    logLevel: "error",
  });
  return outfile;
}

type Import = Readonly<{ time: number; cpu: number }>;

const script = `const begun = [performance.now(), process.cpuUsage()];
await import(process.argv[1]);
const { user, system } = process.cpuUsage(begun[1]);
console.log(JSON.stringify({ time: performance.now() - begun[0], cpu: (user + system) / 1000 }));`;

/** The medians of each file's import, all files in turns so that a slow moment hits all alike. */
function measure(files: Record<string, string>, rounds: number, advance: Advance): Record<string, Import> {
  const imports = new Map<string, Import[]>(Object.keys(files).map((name) => [name, []]));
  const env = functionEnvironment();
  for (let round = 0; round < rounds; round++) {
    advance(round / rounds, `round ${round + 1} of ${rounds}`);
    for (const [name, file] of Object.entries(files)) {
      const node = ["--input-type=module", "-e", script, file];
      const said = execFileSync(process.execPath, node, { env, encoding: "utf8" });
      imports.get(name)?.push(JSON.parse(said.trim().split("\n").at(-1) ?? "") as Import);
    }
  }
  const middle = (all: readonly Import[], key: keyof Import) => median(all.map((one) => one[key]));
  return Object.fromEntries(
    [...imports].map(([name, all]) => [name, { time: middle(all, "time"), cpu: middle(all, "cpu") }]),
  );
}

/** What a function finds in its environment when it is deployed. */
function functionEnvironment(): NodeJS.ProcessEnv {
  const settings = Object.values(SettingEnvironment).map((name) => [name, ""]);
  const given = Object.values(Environment).map((name) => [name, "bench"]);
  return {
    ...process.env,
    AWS_REGION: "us-east-1",
    NODE_OPTIONS: "--enable-source-maps",
    ...Object.fromEntries([...settings, ...given]),
    [SettingEnvironment.cluster]: "bench",
  };
}
