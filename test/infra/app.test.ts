import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";

const out = mkdtempSync(join(tmpdir(), "synth-"));
afterAll(() => rmSync(out, { recursive: true, force: true }));

type Ended = Readonly<{ code: number; said: string; folder: string }>;

/** Runs the repository's app as the CDK command line does: settings in, a folder of templates out. */
function synth(name: string, context: Readonly<Record<string, string>>): Promise<Ended> {
  const folder = join(out, name);
  const app = join(import.meta.dirname, "../../infra/app.ts");
  const env = { ...process.env, CDK_OUTDIR: folder, CDK_CONTEXT_JSON: JSON.stringify(context) };
  return new Promise((resolve) => {
    execFile(process.execPath, [app], { env }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, said: stdout + stderr, folder });
    });
  });
}

// A synth takes two seconds, and much longer beside other tests on a busy machine.
describe("the app", { timeout: 60_000 }, () => {
  it("synthesizes with nothing but a cluster, and no finding of the security checks", async () => {
    const { code, said, folder } = await synth("defaults", { cluster: "prod" });

    expect(said).toBe("");
    expect(code).toBe(0);
    const template = JSON.parse(
      readFileSync(join(folder, "karpenter-node-holder-prod.template.json"), "utf8"),
    );
    expect(Object.keys(template.Outputs).sort()).toEqual([
      "ControlFunction",
      "Dashboard",
      "DeadLetterQueueUrls",
      "ForceRelease",
      "HoldFunction",
      "HoldTable",
      "LaunchQueueUrl",
      "ReleaseFunction",
      "SweepFunction",
    ]);
    expect(template.Outputs.ForceRelease.Value["Fn::Join"][1].join("")).toContain(
      '{"force":true,"reason":"why"}',
    );
  });

  it("synthesizes with every setting, and no finding of the security checks", async () => {
    const everySetting = {
      cluster: `${"long_Name-".repeat(10)}`,
      hold: "30m",
      maxHold: "0s",
      breather: "5m",
      initialDelay: "30s",
      scope: "nodepool",
      nodePools: "batch,!system",
      karpenter: "v0.31",
      holdAnnotation: "example.com/keep",
      sweepEvery: "7m",
      vpc: "subnet-0123456789abcdef0,sg-0123456789abcdef0",
      alarmTopicArn: "arn:aws:sns:us-east-1:111122223333:ops",
      logRetentionDays: "7",
      reserveConcurrency: "true",
    };
    const { code, said } = await synth("everything", everySetting);

    expect(said).toBe("");
    expect(code).toBe(0);
  });

  it("reports all wrong settings at once, each with what was expected, and no stack trace", async () => {
    const { code, said } = await synth("wrong", {
      cluster: "prod",
      hold: "banana",
      maxHold: "1m",
      scope: "planet",
    });

    expect(code).toBe(1);
    expect(said.trim().split("\n")).toEqual([
      "These settings cannot be used:",
      expect.stringContaining(
        'hold must be auto, or a duration from 1m to 24h, like 90s, 20m or 2h, not "banana"',
      ),
      expect.stringContaining('maxHold must be at least hold (20m), or 0s, not "1m"'),
      expect.stringContaining('scope must be cluster or nodepool, not "planet"'),
    ]);
  });
});
