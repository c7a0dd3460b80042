import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { V1ValidatingAdmissionPolicySpec } from "@kubernetes/client-node";
import { buildChecker } from "./build-once.ts";

export type CelUpdate = Readonly<{ object: unknown; oldObject: unknown; groups: readonly string[] }>;

/** What the oldest Kubernetes with policies decides of each update: "admitted", the message of what refuses it, or an error. */
export async function decideByOldestCel(
  policy: V1ValidatingAdmissionPolicySpec,
  updates: readonly CelUpdate[],
): Promise<readonly string[]> {
  const deciding = promisify(execFile)(await buildChecker("cel"), { maxBuffer: 64 * 1024 * 1024 });
  deciding.child.stdin?.end(JSON.stringify({ policy, updates }));
  return JSON.parse((await deciding).stdout);
}
