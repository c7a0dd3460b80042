import { dump } from "js-yaml";
import { accessManifest, clusterRole } from "./manifest.ts";

/** The user of the rights: the deployed functions, or `run`, which also watches nodes. */
export type RightsFor = "functions" | "run";

/** The manifest as text for `kubectl apply`; the same input gives the same bytes. */
export const manifestYaml = (annotations: readonly string[], rightsFor: RightsFor = "functions"): string =>
  accessManifest(annotations)
    .map(({ object }) =>
      object.kind === "ClusterRole" && rightsFor === "run" ? watching(annotations) : object,
    )
    .map((object) => dump(object, { lineWidth: -1, noRefs: true }))
    .join("---\n");

function watching(annotations: readonly string[]) {
  const role = clusterRole(annotations);
  const rules = role.rules?.map((rule) =>
    rule.resources?.includes("nodes") ? { ...rule, verbs: [...rule.verbs, "watch"] } : rule,
  );
  return { ...role, rules };
}
