import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { Environment, SettingEnvironment } from "../../lambda/environment.ts";
import { parts } from "../../lambda/names.ts";
import { bundleInto } from "../../scripts/bundles.ts";
import { type Bench, count, type Figure, median, ms, type Size } from "./figure.ts";

const plans: Readonly<Record<Size, number>> = { whole: 15, quick: 1 };

/** The parts of its dependencies that `hold` imports. */
const dependencies = `
  export { DynamoDBClient, GetItemCommand, PutItemCommand, QueryCommand } from "@aws-sdk/client-dynamodb";
  export { EKSClient, DescribeClusterCommand } from "@aws-sdk/client-eks";
  export { SchedulerClient, CreateScheduleCommand } from "@aws-sdk/client-scheduler";
  export { EC2Client, DescribeInstancesCommand, paginateDescribeInstances } from "@aws-sdk/client-ec2";
  export { SQSClient, SendMessageBatchCommand } from "@aws-sdk/client-sqs";
  export { Logger } from "@aws-lambda-powertools/logger";
  export { Metrics } from "@aws-lambda-powertools/metrics";
`;

type Cold = Readonly<{ time: number; cpu: number; size: number }>;

/** Import time of each function's bundle, and of what `hold` depends on, in turns, each in a fresh process. */
export const coldStart: Bench = {
  name: "cold-start",
  title: "Cold start: importing each function's bundle",
  seconds: 40,
  async run(size, advance) {
    const folder = mkdtempSync(join(tmpdir(), "cold-start-"));
    try {
      const bare = join(folder, "dependencies.mjs");
      await bundleBare(bare);
      const files = parts.map((part) => join(folder, part, "index.mjs"));
      for (const [i, part] of parts.entries()) await bundleInto(part, files[i] ?? "");
      const imports: Record<string, Cold[]> = {};
      for (let round = 0; round < plans[size]; round++) {
        advance(round / plans[size], `round ${round + 1}`);
        for (const file of [bare, ...files]) imports[file] = [...(imports[file] ?? []), importOnce(file)];
      }
      const beside = medianOf(imports[bare]);
      return parts.map((part, i) => {
        const own = medianOf(imports[files[i] ?? ""]);
        return part === "hold" ? besideDependencies(own, beside) : figureOf(part, own);
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

const kB = (size: number): string => `${count(Math.round(size / 1000))} kB`;

const figureOf = (part: string, { time, cpu, size }: Cold): Figure => ({
  what: `import ${part}`,
  value: `${ms(time)}, of the processor ${ms(cpu)}; ${kB(size)}`,
});

const besideDependencies = (own: Cold, { time, size }: Cold): Figure => ({
  ...figureOf("hold", own),
  beside: `its dependencies, bundled as they come: ${ms(time)}, ${kB(size)}`,
  goal: "no longer than these",
  reached: own.time <= time,
});

function medianOf(all: readonly Cold[] = []): Cold {
  const middle = (key: keyof Cold) => median(all.map((one) => one[key]));
  return { time: middle("time"), cpu: middle("cpu"), size: middle("size") };
}

const script = `const begun = [performance.now(), process.cpuUsage()];
await import(process.argv[1]);
const { user, system } = process.cpuUsage(begun[1]);
console.log(JSON.stringify({ time: performance.now() - begun[0], cpu: (user + system) / 1000 }));`;

function importOnce(file: string): Cold {
  const node = ["--input-type=module", "-e", script, file];
  const printed = execFileSync(process.execPath, node, { env: functionEnvironment(), encoding: "utf8" });
  return { ...JSON.parse(printed.trim().split("\n").at(-1) ?? ""), size: statSync(file).size };
}

/** The environment variables of a deployed function. */
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

async function bundleBare(outfile: string): Promise<void> {
  await build({
    stdin: { contents: dependencies, resolveDir: process.cwd() },
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
}
