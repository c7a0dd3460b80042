import type { V1ClusterRole, V1Role, V1RoleBinding } from "@kubernetes/client-node";
import { dump } from "js-yaml";
import { accessManifest, bound, type RightsOptions, rbac } from "../../lambda/cluster-access/manifest.ts";
import { holderGroup } from "../../lambda/cluster-access/policy.ts";
import { holderName } from "../../lambda/core/marks/keys.ts";

/** The user of the rights: the deployed functions, or `run`, which also watches nodes. */
export type RightsFor = "functions" | "run";

/** The manifest as text for `kubectl apply`; the same input gives the same bytes. */
export const manifestYaml = (
  annotation: string,
  { rightsFor = "functions", ...options }: RightsOptions & Readonly<{ rightsFor?: RightsFor }> = {},
): string =>
  yamlOf(
    rightsFor === "run"
      ? rightsToRun(annotation, options)
      : accessManifest(annotation, options).map(({ object }) => object),
  );

/** The same objects, with the right to watch nodes, and the right to the Lease that keeps two from working at once. */
export const rightsToRun = (annotation: string, options: RightsOptions = {}): readonly object[] => [
  ...accessManifest(annotation, options).map(({ object }) =>
    object.kind === "ClusterRole" ? watching(object) : object,
  ),
  leaseRole,
  { ...leaseRoleBinding, subjects: [bound(options.subject ?? holderGroup)] } satisfies V1RoleBinding,
];

/** One place for a whole cluster, whichever namespace a `run` is in. */
export const leaseNamespace = "kube-system";
const metadata = { name: holderName, namespace: leaseNamespace };
const leases = { apiGroups: ["coordination.k8s.io"], resources: ["leases"] };

const leaseRole: V1Role = {
  apiVersion: `${rbac}/v1`,
  kind: "Role",
  metadata,
  rules: [
    // The name of a new object is not known to RBAC.
    { ...leases, verbs: ["create"] },
    { ...leases, resourceNames: [holderName], verbs: ["get", "update"] },
  ],
};

const leaseRoleBinding: V1RoleBinding = {
  apiVersion: `${rbac}/v1`,
  kind: "RoleBinding",
  metadata,
  roleRef: { apiGroup: rbac, kind: "Role", name: holderName },
};

/** Objects as one text for `kubectl apply`. */
export const yamlOf = (objects: readonly object[]): string =>
  objects.map((object) => dump(object, { lineWidth: -1, noRefs: true })).join("---\n");

function watching(role: V1ClusterRole): V1ClusterRole {
  const rules = role.rules?.map((rule) =>
    rule.resources?.includes("nodes") ? { ...rule, verbs: [...rule.verbs, "watch"] } : rule,
  );
  return { ...role, ...(rules && { rules }) };
}
