import { execFile } from "node:child_process";
import { globSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildFunctions } from "../../../scripts/bundles.ts";
import { compileApp, emptyApp, packPackage, synthesizeApp } from "../../infra/consumer.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../../..");
const { peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
/** The oldest versions of the supported range, about 18 months old, and the newest. */
const oldest = Object.entries(peerDependencies).map(([name, range]) => `${name}@${String(range).slice(1)}`);
const newest = Object.keys(peerDependencies).map((name) => `${name}@latest`);
const quietly = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];

const made: string[] = [];
let tarball: string;

beforeAll(async () => {
  await buildFunctions();
  tarball = await packPackage();
  made.push(dirname(tarball));
});
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

function newApp(kind: "module" | "commonjs"): string {
  const app = emptyApp(kind);
  made.push(app);
  return app;
}

describe.each([
  ["oldest", "commonjs", oldest],
  ["newest", "module", newest],
] as const)("an empty app on the %s CDK of the range, of type %s", (_, kind, peers) => {
  it("compiles and synthesizes after npm install, without a prompt or a warning", async () => {
    const app = newApp(kind);

    await run("npm", ["install", ...quietly, tarball, ...peers], { cwd: app });

    expect(await compileApp(app)).toBe("");
    expect(await synthesizeApp(app)).toBe("");
    const template = readFileSync(join(app, "cdk.out", "Mine.template.json"), "utf8");
    expect(template).toContain("karpenter-node-holder-prod-hold");
    // Also of CDK's own function.
    expect(template.match(/"Runtime": ".*"/g)).toEqual(Array(6).fill('"Runtime": "nodejs24.x"'));
    expect(template).not.toContain("AWSLambdaBasicExecutionRole");
  });
});

describe.each([
  [
    "20",
    /^error: karpenter-node-holder needs Node 22\.13 or later; this is Node 20\.\d+\.\d+\nInstall .*\n$/,
    1,
  ],
  ["22.13.0", /^$/, 0],
] as const)("the command line on Node %s", (version, complaint, code) => {
  it(code === 0 ? "works without a warning" : "prints in one line which Node it needs", async () => {
    const app = newApp("module");
    await run("npm", ["install", ...quietly, tarball, `node@${version}`], { cwd: app });
    const node = join(app, "node_modules/node/bin/node");
    const command = ["node_modules/.bin/karpenter-node-holder", "manifest", "--holder", "run"];
    const result = await run(node, command, { cwd: app }).catch((error: unknown) => error);
    expect(result).toMatchObject({ stderr: expect.stringMatching(complaint), ...(code && { code }) });
  });
});

describe("installed into an empty folder", () => {
  const app = emptyApp("module");
  made.push(app);
  const shipped = join(app, "node_modules", "karpenter-node-holder");
  const command = (...words: string[]) =>
    run(process.execPath, ["node_modules/.bin/karpenter-node-holder", ...words], { cwd: app });
  let added: string;
  beforeAll(async () => {
    const alone = ["--offline", "--no-audit", "--no-fund", "--loglevel=notice"];
    ({ stdout: added } = await run("npm", ["install", ...alone, tarball], { cwd: app }));
  });

  it("installs one package of less than 4 MB, without a registry", () => {
    expect(added).toMatch(/added 1 package /);
    expect(readdirSync(join(app, "node_modules")).filter((name) => !name.startsWith("."))).toEqual([
      "karpenter-node-holder",
    ]);
    const files = globSync("**/*", { cwd: shipped, withFileTypes: true }).filter((file) => file.isFile());
    const size = files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
    expect(size).toBeLessThan(4_000_000);
  });

  it("brings a command line that works alone, also as a plugin of kubectl", async () => {
    const plugin = await run("node_modules/.bin/kubectl-karpenter_node_holder", ["--version"], { cwd: app });
    expect(plugin).toEqual(await command("--version"));
    expect((await command("--help")).stdout).toContain("status");
    expect((await command("manifest")).stdout).toMatch(
      /kind: ValidatingAdmissionPolicy\n.*kind: ClusterRole\n/s,
    );
    await command("template", "--cluster", "prod", "--bucket", "assets", "--alarms", "none");
    const written = join(app, "karpenter-node-holder");
    const code = readFileSync(join(written, "template.json"), "utf8").matchAll(/"S3Key": ".*\/(.*)"/g);
    expect([...code].map(([, name = ""]) => statSync(join(written, name)).size > 1_000)).toEqual(
      Array(6).fill(true),
    );
    // Reads a kubeconfig, and so loads what reaches a cluster.
    await expect(command("run", "--kubeconfig", "nowhere.yaml")).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining("nowhere.yaml: no such file or directory"),
    });
    // Loads the AWS clients, and reaches nothing.
    await expect(
      command("status", "--cluster", "prod", "--region", "us-east-1", "--endpoint-url", "http://127.0.0.1:1"),
    ).rejects.toMatchObject({ code: 1, stderr: expect.not.stringContaining("    at ") });
  });

  it("names the license of every package that is inside", () => {
    const licenses = readFileSync(join(shipped, "dist", "THIRD-PARTY-LICENSES"), "utf8");
    for (const name of [
      "@aws-sdk/client-dynamodb",
      "@kubernetes/client-node",
      "commander",
      "js-yaml",
      "aws-cdk-lib",
    ])
      expect(licenses).toMatch(new RegExp(`^${name} [0-9.]+ \\([A-Z]`, "m"));
  });

  it("ships what runs and what is read, and no sources, bundles beside their archives, or tests", () => {
    for (const name of ["dist", "docs", "LICENSE", "package.json"])
      expect(readdirSync(shipped)).toContain(name);
    for (const name of ["lambda", "infra", "test", "scripts"])
      expect(readdirSync(shipped)).not.toContain(name);
    expect(readdirSync(join(shipped, "cli"))).toEqual(["bin.js"]);
    expect(readdirSync(join(shipped, "dist", "functions")).filter((name) => !name.endsWith(".zip"))).toEqual(
      [],
    );
  });
});
