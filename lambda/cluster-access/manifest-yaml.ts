import { dump } from "js-yaml";
import { accessManifest, clusterRole } from "./manifest.ts";
import type { Subject } from "./policy.ts";

/** The user of the rights: the deployed functions, or `run`, which also watches nodes. */
export type RightsFor = "functions" | "run";

/** The manifest as text for `kubectl apply`; the same input gives the same bytes. */
export const manifestYaml = (annotations: readonly string[], rightsFor: RightsFor = "functions"): string =>
  yamlOf(
    rightsFor === "run" ? rightsToRun(annotations) : accessManifest(annotations).map(({ object }) => object),
  );

/** The same objects, with the right to watch nodes. */
export const rightsToRun = (annotations: readonly string[], subject?: Subject): readonly object[] =>
  accessManifest(annotations, subject).map(({ object }) =>
    object.kind === "ClusterRole" ? watching(annotations) : object,
  );

/** Objects as one text for `kubectl apply`. */
export const yamlOf = (objects: readonly object[]): string =>
  objects.map((object) => dump(object, { lineWidth: -1, noRefs: true })).join("---\n");

function watching(annotations: readonly string[]) {
  const role = clusterRole(annotations);
  const rules = role.rules?.map((rule) =>
    rule.resources?.includes("nodes") ? { ...rule, verbs: [...rule.verbs, "watch"] } : rule,
  );
  return { ...role, rules };
}
