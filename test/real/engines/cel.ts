import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { V1ValidatingAdmissionPolicySpec } from "@kubernetes/client-node";
import { buildFolder, once } from "./build-once.ts";
import { go } from "./tools.ts";

const program = join(buildFolder, "bin", "check-cel");

/** Builds the program that decides by an admission policy as the oldest version of Kubernetes which has them. */
export async function buildCel(): Promise<void> {
  const folder = join(import.meta.dirname, "cel");
  const sources = ["go.mod", "go.sum", "main.go"].map((file) => join(folder, file));
  await once("cel", [import.meta.filename, ...sources], async () => {
    await go(["-C", folder, "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "."]);
  });
}

export type CelUpdate = Readonly<{ object: unknown; oldObject: unknown; groups: readonly string[] }>;

/** What that version decides of each update: "admitted", the message of what refuses it, or an error. */
export async function decideByOldestCel(
  policy: V1ValidatingAdmissionPolicySpec,
  updates: readonly CelUpdate[],
): Promise<readonly string[]> {
  const deciding = promisify(execFile)(program, { maxBuffer: 64 * 1024 * 1024 });
  deciding.child.stdin?.end(JSON.stringify({ policy, updates }));
  return JSON.parse((await deciding).stdout);
}
