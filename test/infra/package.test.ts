import { execFile } from "node:child_process";
import { cpSync, globSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { compileApps, emptyApp, packPackage, synthesizeApp } from "./consumer.ts";

const run = promisify(execFile);
const modules = join(import.meta.dirname, "../../node_modules");
const apps = { module: emptyApp("module"), commonjs: emptyApp("commonjs") };
const shipped = join(apps.module, "node_modules", "karpenter-node-holder");
let tarball = "";
let added = "";

beforeAll(async () => {
  tarball = await packPackage();
  const quietly = ["--offline", "--no-audit", "--no-fund"];
  ({ stdout: added } = await run("npm", ["install", ...quietly, tarball], { cwd: apps.module }));
  cpSync(shipped, join(apps.commonjs, "node_modules", "karpenter-node-holder"), { recursive: true });
}, 120_000);
afterAll(() => {
  const made = [...Object.values(apps), ...(tarball ? [dirname(tarball)] : [])];
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

const command = (...words: string[]) =>
  run(process.execPath, ["node_modules/.bin/karpenter-node-holder", ...words], { cwd: apps.module });

it("installs one package of less than 4 MB, without a registry", () => {
  expect(added).toMatch(/added 1 package /);
  expect(readdirSync(join(apps.module, "node_modules")).filter((name) => !name.startsWith("."))).toEqual([
    "karpenter-node-holder",
  ]);
  const files = globSync("**/*", { cwd: shipped, withFileTypes: true }).filter((file) => file.isFile());
  const size = files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
  expect(size).toBeLessThan(4_000_000);
});

it("brings a command line that works alone", async () => {
  expect((await command("--help")).stdout).toContain("status");
  expect((await command("manifest")).stdout).toMatch(
    /kind: ValidatingAdmissionPolicy\n.*kind: ClusterRole\n/s,
  );
  // Reads a kubeconfig, and so loads what reaches a cluster.
  await expect(command("run", "--kubeconfig", "nowhere.yaml")).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining("nowhere.yaml: ENOENT"),
  });
  // Loads the AWS clients, and reaches nothing.
  await expect(
    command("status", "--cluster", "prod", "--region", "us-east-1", "--endpoint-url", "http://127.0.0.1:1"),
  ).rejects.toMatchObject({ code: 1, stderr: expect.not.stringContaining("    at ") });
}, 60_000);

it("names the license of every package that is inside", () => {
  const licenses = readFileSync(join(shipped, "dist", "THIRD-PARTY-LICENSES"), "utf8");
  for (const name of ["@aws-sdk/client-dynamodb", "@kubernetes/client-node", "commander", "js-yaml"])
    expect(licenses).toMatch(new RegExp(`^${name} [0-9.]+ \\([A-Z]`, "m"));
  expect(licenses).not.toContain("aws-cdk-lib ");
});

it("compiles and synthesizes in ESM and CommonJS apps alike, without a bundler and without a warning", async () => {
  for (const app of Object.values(apps)) {
    for (const peer of ["aws-cdk-lib", "constructs"])
      symlinkSync(join(modules, peer), join(app, "node_modules", peer));
  }
  expect(await compileApps(Object.values(apps))).toBe("");
  expect(await synthesizeApp(apps.module)).toBe("");
  // What the CDK itself finds in a template takes it seconds, and the template is the same.
  expect(await synthesizeApp(apps.commonjs, { CDK_VALIDATION: "false" })).toBe("");

  const templateOf = (app: string) =>
    JSON.parse(readFileSync(join(app, "cdk.out", "Mine.template.json"), "utf8"));
  expect(JSON.stringify(templateOf(apps.module))).toContain("karpenter-node-holder-prod-release");
  expect(templateOf(apps.commonjs)).toEqual(templateOf(apps.module));
}, 120_000);

it("ships what runs and what is read, and no sources, bundles beside their archives, or tests", () => {
  for (const name of ["dist", "LICENSE", "package.json"]) expect(readdirSync(shipped)).toContain(name);
  for (const name of ["lambda", "infra", "test", "scripts"]) expect(readdirSync(shipped)).not.toContain(name);
  expect(readdirSync(join(shipped, "cli"))).toEqual(["bin.js"]);
  expect(readdirSync(join(shipped, "dist", "functions")).filter((name) => !name.endsWith(".zip"))).toEqual(
    [],
  );
});

it.each(["18.20.8", "20.19.5", "22.12.0"])("refuses Node %s in one line", async (version) => {
  const pretend = `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"${version}"})`;
  const bin = join(import.meta.dirname, "../../cli/bin.js");
  await expect(run(process.execPath, ["--import", pretend, bin, "--help"])).rejects.toMatchObject({
    code: 1,
    stderr: `karpenter-node-holder needs Node 22.13 or later; this is Node ${version}.\n`,
  });
});
