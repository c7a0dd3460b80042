import { execFile } from "node:child_process";
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { buildStaleFunctions } from "../../../scripts/bundles.ts";
import { buildPython } from "../engines/build.ts";
import { buildHcl } from "../engines/hcl.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../../..");
const app = join(root, "infra/app.ts");

// CDK adds a function's role to DependsOn although the function refers to it anyway.
const redundantDependency = "W3005";

const everything = {
  cluster: "long_Name-".repeat(10),
  hold: "20m",
  maxHold: "0s",
  holdDuring: "cron(0 8 ? * MON-FRI *) Europe/Berlin 2h; rate(1 day) 30m",
  vpc: "subnet-0123456789abcdef0,sg-0123456789abcdef0",
  alarmTopicArn: "arn:aws:sns:us-east-1:111122223333:ops",
};

it.each([
  ["with only a cluster", { cluster: "prod" }],
  ["with every option", everything],
  ["with manual access", { cluster: "prod", access: "manual" }],
])("neither the CDK's validation nor cfn-lint finds anything in the template %s", async (_, context) => {
  const lint = join(await buildPython("cfn-lint"), "cfn-lint");
  await buildStaleFunctions();
  const out = mkdtempSync(join(tmpdir(), "template-"));
  try {
    const env = { ...process.env, CDK_OUTDIR: out, CDK_CONTEXT_JSON: JSON.stringify(context) };
    const { stdout, stderr } = await run(process.execPath, [app], { env });

    expect(stdout + stderr).toBe("");

    const found = run(lint, ["--ignore-checks", redundantDependency, "--", join(out, "*.template.json")]);

    await expect(found.then(({ stdout }) => stdout)).resolves.toBe("");
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
});

it("Terraform can parse its module, and would not format it differently", async () => {
  const files = globSync("terraform/*.tf", { cwd: root });
  expect(files.length).toBeGreaterThan(3);
  expect((await run(await buildHcl(), files, { cwd: root })).stdout).toBe("");
});
