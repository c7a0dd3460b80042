import type { V1ClusterRole } from "@kubernetes/client-node";
import { dump } from "js-yaml";
import { accessManifest, type RightsOptions } from "./manifest.ts";

/** The user of the rights: the deployed functions, or `run`, which also watches nodes. */
export type RightsFor = "functions" | "run";

/** The manifest as text for `kubectl apply`; the same input gives the same bytes. */
export const manifestYaml = (
  annotations: readonly string[],
  { rightsFor = "functions", ...options }: RightsOptions & Readonly<{ rightsFor?: RightsFor }> = {},
): string =>
  yamlOf(
    rightsFor === "run"
      ? rightsToRun(annotations, options)
      : accessManifest(annotations, options).map(({ object }) => object),
  );

/** The same objects, with the right to watch nodes. */
export const rightsToRun = (annotations: readonly string[], options?: RightsOptions): readonly object[] =>
  accessManifest(annotations, options).map(({ object }) =>
    object.kind === "ClusterRole" ? watching(object) : object,
  );

/** Objects as one text for `kubectl apply`. */
export const yamlOf = (objects: readonly object[]): string =>
  objects.map((object) => dump(object, { lineWidth: -1, noRefs: true })).join("---\n");

function watching(role: V1ClusterRole): V1ClusterRole {
  const rules = role.rules?.map((rule) =>
    rule.resources?.includes("nodes") ? { ...rule, verbs: [...rule.verbs, "watch"] } : rule,
  );
  return { ...role, ...(rules && { rules }) };
}
