import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Smoke } from "./smoke.ts";

const root = resolve(import.meta.dirname, "../..");

/** The CDK command line on this repository's app; its output goes to stderr at once. */
export type Cdk = (action: readonly string[]) => Promise<void>;

export function cdkFor(smoke: Smoke, context: readonly string[]): Cdk {
  const settings = [`cluster=${smoke.cluster}`, ...context].flatMap((one) => ["-c", one]);
  const { profile } = smoke.aws;
  return (action) => {
    const output = mkdtempSync(join(tmpdir(), "smoke-cdk-"));
    const words = [...action, ...settings, ...(profile ? ["--profile", profile] : []), "--output", output];
    const cli = join(root, "node_modules/aws-cdk/bin/cdk");
    return new Promise<void>((done, failed) => {
      // In a process group of its own: Ctrl-C must not cut a deployment in two.
      const child = spawn(process.execPath, [cli, ...words, "--ci"], {
        cwd: root,
        detached: true,
        // The app knows the profile by the environment alone.
        env: { ...process.env, AWS_REGION: smoke.region, ...(profile && { AWS_PROFILE: profile }) },
        stdio: ["ignore", "pipe", "inherit"],
      });
      child.stdout.pipe(process.stderr, { end: false });
      child.once("error", failed);
      child.once("exit", (code) => {
        rmSync(output, { recursive: true, force: true });
        if (code === 0) done();
        else failed(new Error(`cdk ${action[0]} ended with ${code}: see above`));
      });
    });
  };
}
