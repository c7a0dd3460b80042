import { SettingEnvironment } from "../../../lambda/environment.ts";
import type { FunctionFacts } from "../aws/account.ts";
import { type Doctor, reapply } from "../doctor.ts";
import { type Finding, fail, ok, warn } from "../finding.ts";

/** Compares role, binding and policy with the manifest; needs a kubeconfig. */
export async function checkManifest({ compareManifest }: Doctor, { env }: FunctionFacts): Promise<Finding[]> {
  if (!compareManifest) return [];
  const found = await compareManifest(env[SettingEnvironment.holdAnnotation] ?? "");
  const unknown = found.filter(({ state }) => state === "unknown to this cluster");
  const wrong = found.filter(({ state }) => state === "missing" || state === "different");
  if (wrong.length > 0) {
    const what = wrong.map(
      ({ kind, state }) => `${kind} is ${state === "missing" ? "missing" : "not as in the manifest"}`,
    );
    return [fail("manifest", what.join(", "), reapply({ env }))];
  }
  if (unknown.length > 0) {
    const kinds = unknown.map(({ kind }) => kind).join(" and ");
    return [warn("manifest", `the cluster has no ${kinds}`, "Policies came with Kubernetes 1.30.")];
  }
  return [ok("manifest", "roles, bindings and policy are as in the manifest")];
}
