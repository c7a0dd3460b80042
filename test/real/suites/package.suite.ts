import { execFile } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildFunctions } from "../../../scripts/bundles.ts";
import { compileApps, emptyApp, packPackage, synthesizeApp } from "../../infra/consumer.ts";

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
  ["oldest", "module", oldest],
  ["oldest", "commonjs", oldest],
  ["newest", "module", newest],
  ["newest", "commonjs", newest],
] as const)("an empty app on the %s CDK of the range, of type %s", (_, kind, peers) => {
  it("compiles and synthesizes after npm install, without a prompt or a warning", async () => {
    const app = newApp(kind);

    await run("npm", ["install", ...quietly, tarball, ...peers], { cwd: app });

    expect(await compileApps([app])).toBe("");
    expect(await synthesizeApp(app)).toBe("");
    expect(readFileSync(join(app, "cdk.out", "Mine.template.json"), "utf8")).toContain(
      "karpenter-node-holder-prod-hold",
    );
  });
});

describe.each([
  ["20", /^karpenter-node-holder needs Node 22\.13 or later; this is Node 20\.\d+\.\d+\.\n$/, 1],
  ["22.13.0", /^$/, 0],
] as const)("the command line on Node %s", (version, complaint, code) => {
  it(code === 0 ? "works without a warning" : "prints in one line which Node it needs", async () => {
    const app = newApp("module");
    await run("npm", ["install", ...quietly, tarball, `node@${version}`], { cwd: app });
    const node = join(app, "node_modules/node/bin/node");
    const command = ["node_modules/.bin/karpenter-node-holder", "manifest", "--for", "run"];
    const result = await run(node, command, { cwd: app }).catch((error: unknown) => error);
    expect(result).toMatchObject({ stderr: expect.stringMatching(complaint), ...(code && { code }) });
  });
});
