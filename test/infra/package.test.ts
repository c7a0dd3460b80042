import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { emptyApp, packPackage, synthesizeApp } from "../support/consumer.ts";

const modules = join(import.meta.dirname, "../../node_modules");
const made: string[] = [];
let tarball: string;

beforeAll(async () => {
  tarball = await packPackage();
  made.push(dirname(tarball));
}, 120_000);
afterAll(() => {
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

describe.each(["module", "commonjs"] as const)("in an empty CDK app of type %s", (kind) => {
  it("compiles and synthesizes without a bundler and without a word", async () => {
    const app = emptyApp(kind);
    made.push(app);
    install(app);

    expect(await synthesizeApp(app)).toBe("");

    const template = JSON.parse(readFileSync(join(app, "cdk.out", "Mine.template.json"), "utf8"));
    expect(JSON.stringify(template)).toContain("karpenter-node-holder-prod-release");
  }, 120_000);
});

it("ships what runs and what is read, and no sources or tests", () => {
  const app = emptyApp("module");
  made.push(app);
  install(app);
  const shipped = readdirSync(join(app, "node_modules", "karpenter-node-holder")).sort();
  for (const name of ["dist", "LICENSE", "package.json"]) expect(shipped).toContain(name);
  for (const name of ["lambda", "infra", "test", "scripts"]) expect(shipped).not.toContain(name);
  expect(readdirSync(join(app, "node_modules", "karpenter-node-holder", "cli"))).toEqual(["bin.js"]);
});
