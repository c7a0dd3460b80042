import { execFile } from "node:child_process";
import { globSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { emptyApp, packPackage } from "./consumer.ts";

const run = promisify(execFile);
const app = emptyApp("module");
const shipped = join(app, "node_modules", "karpenter-node-holder");
let tarball = "";
let added = "";

beforeAll(async () => {
  tarball = await packPackage();
  const quietly = ["--offline", "--no-audit", "--no-fund"];
  ({ stdout: added } = await run("npm", ["install", ...quietly, tarball], { cwd: app }));
}, 120_000);
afterAll(() => {
  for (const folder of [app, ...(tarball ? [dirname(tarball)] : [])])
    rmSync(folder, { recursive: true, force: true });
});

// That it compiles and synthesizes in apps of either kind, on the oldest and newest CDK, is shown by the real suite `package`.
const command = (...words: string[]) =>
  run(process.execPath, ["node_modules/.bin/karpenter-node-holder", ...words], { cwd: app });

it("installs one package of less than 4 MB, without a registry", () => {
  expect(added).toMatch(/added 1 package /);
  expect(readdirSync(join(app, "node_modules")).filter((name) => !name.startsWith("."))).toEqual([
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
