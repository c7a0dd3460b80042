import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { Environment, SettingEnvironment } from "../lambda/environment.ts";
import { buildFunctions } from "../scripts/bundles.ts";
import { type Bench, type Figure, median, ms } from "./figure.ts";

const rounds = 15;

/** What each function's path uses of its named dependencies, bundled bare. */
const dependencies = {
  dynamodb:
    'export { DynamoDBClient, GetItemCommand, PutItemCommand, QueryCommand } from "@aws-sdk/client-dynamodb";',
  eks: 'export { EKSClient, DescribeClusterCommand } from "@aws-sdk/client-eks";',
  scheduler: 'export { SchedulerClient, CreateScheduleCommand } from "@aws-sdk/client-scheduler";',
  ec2: 'export { EC2Client, DescribeInstancesCommand, paginateDescribeInstances } from "@aws-sdk/client-ec2";',
  sqs: 'export { SQSClient, SendMessageBatchCommand } from "@aws-sdk/client-sqs";',
  kubernetes: 'export { KubeConfig, CoreV1Api } from "@kubernetes/client-node";',
  powertools:
    'export { Logger } from "@aws-lambda-powertools/logger"; export { Metrics } from "@aws-lambda-powertools/metrics";',
};
type Dependency = keyof typeof dependencies;

const common: readonly Dependency[] = ["dynamodb", "eks", "scheduler", "kubernetes", "powertools"];
const uses = {
  hold: [...common, "ec2", "sqs"],
  release: common,
  sweep: [...common, "ec2", "sqs"],
  control: [...common, "ec2", "sqs"],
} satisfies Record<string, readonly Dependency[]>;

/** Import time of each function's bundle beside that of its dependencies, in turns, each in a fresh process. */
export const coldStart: Bench = {
  name: "cold-start",
  title: "Cold start: importing each function's bundle",
  axis: { label: "import, the median of 15", unit: "ms" },
  async run() {
    await buildFunctions();
    const folder = mkdtempSync(join(tmpdir(), "cold-start-"));
    try {
      const bare = await bundleDependencies(folder);
      const files: Record<string, string> = { ...bare };
      for (const part of Object.keys(uses)) files[part] = `dist/functions/${part}/index.mjs`;
      const times = measure(files);
      return Object.entries(uses).map(([part, needs]) => figureOf(part, needs, files, times));
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

function figureOf(
  part: string,
  needs: readonly string[],
  files: Record<string, string>,
  times: Record<string, number>,
): Figure {
  const own = times[part] ?? Number.NaN;
  const sum = needs.reduce((total, name) => total + (times[name] ?? Number.NaN), 0);
  const size = Math.round(statSync(files[part] ?? "").size / 1024);
  return {
    what: `import ${part}`,
    value: `${ms(own)}, ${size.toLocaleString("en")} kB`,
    beside: `its dependencies one by one ${ms(sum)}`,
    goal: "≤ 1.5 × their sum",
    reached: own <= 1.5 * sum,
    bars: [
      { group: part, series: "its bundle", value: Math.round(own) },
      { group: part, series: "its dependencies, one by one", value: Math.round(sum) },
    ],
  };
}

async function bundleDependencies(folder: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const [name, contents] of Object.entries(dependencies)) {
    const outfile = join(folder, `${name}.mjs`);
    await build({
      stdin: { contents, resolveDir: process.cwd() },
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
    files[name] = outfile;
  }
  return files;
}

/** The median of each file's import, all files in turns so that a slow moment hits all alike. */
function measure(files: Record<string, string>): Record<string, number> {
  const times: Record<string, number[]> = {};
  const settings = { ...SettingEnvironment, ...Environment };
  const env = {
    ...process.env,
    AWS_REGION: "us-east-1",
    ...Object.fromEntries(Object.values(settings).map((name) => [name, ""])),
  };
  Object.assign(env, { [SettingEnvironment.cluster]: "bench" });
  for (const name of Object.values(Environment)) Object.assign(env, { [name]: "bench" });
  const script =
    "const t = performance.now(); await import(process.argv[1]); console.log(performance.now() - t);";
  for (let round = 0; round < rounds; round++) {
    for (const [name, file] of Object.entries(files)) {
      const path = file.startsWith("/") ? file : join(process.cwd(), file);
      const said = execFileSync(process.execPath, ["--input-type=module", "-e", script, path], {
        env,
        encoding: "utf8",
      });
      times[name] = [...(times[name] ?? []), Number(said.trim().split("\n").at(-1))];
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, values]) => [name, median(values)]));
}
