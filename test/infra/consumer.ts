import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { buildPackage } from "../../scripts/package.ts";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);

/** Packs the package from a copy, so that the repository's own dist stays as it is; returns the tarball's path. */
export async function packPackage(): Promise<string> {
  const stage = mkdtempSync(join(tmpdir(), "package-"));
  const { files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const asIs: readonly string[] = files.filter(
    (file: string) => existsSync(join(root, file)) && file !== "dist",
  );
  for (const file of ["package.json", "dist/functions", ...asIs]) {
    cpSync(join(root, file), join(stage, file), { recursive: true, force: true });
  }
  await buildPackage(join(stage, "dist"));
  const { stdout } = await run("npm", ["pack", "--ignore-scripts", "--json", "--silent"], { cwd: stage });
  const [{ filename }] = JSON.parse(stdout);
  return join(stage, filename);
}

const stackSource = `import { App, Duration, Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { KarpenterNodeHolder } from "karpenter-node-holder";
class Mine extends Stack {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    const holder = new KarpenterNodeHolder(this, "Holder", { cluster: "prod", hold: Duration.minutes(30), alarms: "none" });
    holder.metricNodesHeld();
    holder.alarms.map((alarm) => alarm.alarmName);
  }
}
new Mine(new App(), "Mine");
`;

/** An empty CDK app of one kind, with one stack that holds one cluster's nodes. */
export function emptyApp(kind: "module" | "commonjs"): string {
  const folder = mkdtempSync(join(tmpdir(), `${kind}-app-`));
  mkdirSync(join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "mine", private: true, type: kind }));
  writeFileSync(join(folder, "app.ts"), stackSource);
  return folder;
}

// Our declarations are checked too, which most apps skip; those of the CDK ask for one library more.
const strictly = "--strict --module node16 --target es2024 --lib es2024,esnext.disposable".split(" ");

/** Compiles an app as its owner would; returns all output. */
export async function compileApp(folder: string): Promise<string> {
  const compiler = join(root, "node_modules", ".bin", "tsc");
  const source = join(folder, "app.ts");
  const { stdout, stderr } = await run(compiler, [...strictly, "--types", "", source], { cwd: tmpdir() });
  return stdout + stderr;
}

/** Synthesizes a compiled app as its owner would; returns all output. */
export async function synthesizeApp(folder: string): Promise<string> {
  const env = { ...process.env, CDK_OUTDIR: join(folder, "cdk.out") };
  const { stdout, stderr } = await run(process.execPath, ["app.js"], { cwd: folder, env });
  return stdout + stderr;
}
