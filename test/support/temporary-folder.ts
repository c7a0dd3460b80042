import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Gives all tests one temporary folder, which is deleted afterwards: CDK, for example, does not delete its output. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "karpenter-node-holder-tests-"));
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
