import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { App } from "aws-cdk-lib";
import { describe, expect, it, vi } from "vitest";
import { deployedHolder } from "../../cli/control/control.ts";
import { fillApp } from "../../infra/fill-app.ts";
import { settingsTable } from "../../infra/settings/deployment.ts";
import { newFolder } from "../support/new-folder.ts";
import { otherValues } from "../support/other-values.ts";

const out = newFolder();

/** What the repository's app makes of these settings, and what its checks print. */
function synth(context: Readonly<Record<string, string>>) {
  const printed = vi.spyOn(console, "error").mockImplementation(() => {});
  const code = process.exitCode;
  try {
    const app = new App({ outdir: mkdtempSync(join(out, "app-")), context });
    fillApp(app, {});
    const [stack] = app.synth().stacks;
    return { template: stack?.template, failed: process.exitCode === 1, printed: printed.mock.calls };
  } finally {
    process.exitCode = code;
    printed.mockRestore();
  }
}
const noFinding = { failed: false, printed: [] };

describe("the app", () => {
  it("synthesizes with nothing but a cluster, and no finding of the security checks", () => {
    const { template, ...checked } = synth({ cluster: "prod" });

    expect(checked).toEqual(noFinding);
    expect(template.Description).toBe("karpenter-node-holder for prod");
    // What they are is in templates/outputs-install.txt.
    expect(Object.keys(template.Outputs)).toHaveLength(9);
  });

  it("synthesizes with every setting, and no finding of the security checks", () => {
    const everySetting = { ...otherValues(settingsTable), cluster: "long_Name-".repeat(10) };
    for (const access of ["install", "manual"])
      expect(synth({ ...everySetting, access })).toMatchObject(noFinding);
  });

  it("can be deployed by the command that `status` prints, which says where alarms go", () => {
    const printed = deployedHolder({ cluster: "prod" }, {}).toHold({ cluster: "prod" });
    const [, flags = ""] = /npx cdk deploy -c ([^,]+),/.exec(printed) ?? [];
    const context = Object.fromEntries(flags.split(" -c ").map((flag) => flag.split("=")));
    expect(context).toMatchObject({ cluster: "prod", mode: "hold" });
    const app = new App({ outdir: mkdtempSync(join(out, "app-")), context });
    fillApp(app, {});
    const messages = app.synth().stacks.flatMap((stack) => stack.messages);
    expect(messages.filter(({ level }) => String(level) === "error")).toEqual([]);
  });

  it("reports all wrong settings at once, each with what was expected, and no stack trace", async () => {
    const context = { cluster: "prod", hold: "20m", breather: "banana", maxHold: "1m", scope: "planet" };
    const app = join(import.meta.dirname, "../../infra/app.ts");
    const env = { ...process.env, CDK_OUTDIR: out, CDK_CONTEXT_JSON: JSON.stringify(context) };
    const ended = promisify(execFile)(process.execPath, [app], { env });
    const { code, stderr } = await ended.catch((error: unknown) => Object(error));

    expect(code).toBe(1);
    const problems = [
      'breather must be a duration from 1m to 24h, like 90s, 20m, 2h or 1d, not "banana"',
      'scope must be cluster or nodepool, not "planet"',
      'maxHold must be at least hold (20m), or 0s, not "1m"',
    ];
    expect(stderr.trim().split("\n")).toEqual([
      `error: These settings cannot be used: ${problems.join("; ")}`,
      expect.stringContaining("Nothing was deployed."),
    ]);
  });
});
