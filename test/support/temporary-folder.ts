import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Gives all tests one folder for what is temporary, because not everything they use tidies up: CDK leaves each synthesis behind. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "karpenter-node-holder-tests-"));
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
