import { execFile } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildFunctions } from "../../../scripts/bundles.ts";
import { compileApps, emptyApp, packPackage, synthesizeApp } from "../../support/consumer.ts";

const run = promisify(execFile);
const { peerDependencies } = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../../package.json"), "utf8"),
);
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

describe.each(["module", "commonjs"] as const)(
  "npm install of the tarball into an empty CDK app of type %s",
  (kind) => {
    it("brings all that a synth needs, and neither asks nor warns", async () => {
      const app = emptyApp(kind);
      made.push(app);
      const peers = Object.entries(peerDependencies).map(([name, range]) => `${name}@${range}`);
      const quietly = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];

      await run("npm", ["install", ...quietly, tarball, ...peers], { cwd: app });

      expect(await compileApps([app])).toBe("");
      expect(await synthesizeApp(app)).toBe("");
      expect(readFileSync(join(app, "cdk.out", "Mine.template.json"), "utf8")).toContain(
        "karpenter-node-holder-prod-hold",
      );
    });

    it("brings the command line", async () => {
      const app = made.at(-1) ?? "";
      const { stdout } = await run(process.execPath, ["node_modules/.bin/karpenter-node-holder", "--help"], {
        cwd: app,
      });
      expect(stdout).toContain("karpenter-node-holder");
    });
  },
);
