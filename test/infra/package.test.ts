import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { compileApps, emptyApp, packPackage, synthesizeApp } from "../support/consumer.ts";

const modules = join(import.meta.dirname, "../../node_modules");
const apps = { module: emptyApp("module"), commonjs: emptyApp("commonjs") };
let tarball = "";

beforeAll(async () => {
  tarball = await packPackage();
  for (const app of Object.values(apps)) install(app);
}, 120_000);
afterAll(() => {
  const made = [...Object.values(apps), ...(tarball ? [dirname(tarball)] : [])];
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** What npm install does, without asking a registry for what lies beside us already. */
function install(folder: string): void {
  const target = join(folder, "node_modules");
  for (const dependency of ["aws-cdk-lib", "constructs"]) {
    symlinkSync(join(modules, dependency), join(target, dependency));
  }
  execFileSync("tar", ["-xzf", tarball, "-C", target, "--transform", "s,^package,karpenter-node-holder,"]);
}

const templateOf = (app: string) =>
  JSON.parse(readFileSync(join(app, "cdk.out", "Mine.template.json"), "utf8"));

it("compiles and synthesizes in empty ESM and CommonJS apps alike, without a bundler and without a word", async () => {
  expect(await compileApps(Object.values(apps))).toBe("");
  expect(await synthesizeApp(apps.module)).toBe("");
  // What the CDK itself finds in a template takes it seconds, and the template is the same.
  expect(await synthesizeApp(apps.commonjs, { CDK_VALIDATION: "false" })).toBe("");

  expect(JSON.stringify(templateOf(apps.module))).toContain("karpenter-node-holder-prod-release");
  expect(templateOf(apps.commonjs)).toEqual(templateOf(apps.module));
}, 120_000);

it("ships what runs and what is read, and no sources or tests", () => {
  const shipped = join(apps.module, "node_modules", "karpenter-node-holder");
  for (const name of ["dist", "LICENSE", "package.json"]) expect(readdirSync(shipped)).toContain(name);
  for (const name of ["lambda", "infra", "test", "scripts"]) expect(readdirSync(shipped)).not.toContain(name);
  expect(readdirSync(join(shipped, "cli"))).toEqual(["bin.js"]);
});
