import type {
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1ValidatingAdmissionPolicy,
  V1ValidatingAdmissionPolicyBinding,
} from "@kubernetes/client-node";
import { holderName, isAnnotationKey } from "../core/marks/keys.ts";
import type { Rules } from "../core/rules.ts";
import { asRecord } from "../kubernetes/node-objects.ts";
import { nodeClaimsGroup } from "../kubernetes/nodeclaims.ts";
import { holderGroup, policySpec, type Subject } from "./policy.ts";

const rbac = "rbac.authorization.k8s.io";
const admission = "admissionregistration.k8s.io/v1";
const metadata = { name: holderName };

/** Records on our ClusterRole the annotation keys under which marks may exist; every cluster has ClusterRoles. */
const keysAnnotation = `${holderName}/hold-annotations`;

/** The annotation keys that our ClusterRole records, as it was read from a cluster. */
export function keysOfRole(role: unknown): readonly string[] {
  const { annotations } = asRecord(asRecord(role, "our ClusterRole").metadata, "our ClusterRole's metadata");
  const { [keysAnnotation]: keys } = Object(annotations);
  return typeof keys === "string" ? keys.split(",").filter(isAnnotationKey) : [];
}

/** Lets the holder read nodes, patch them unless it only observes, list NodeClaims, with `hold=auto` pods, and nothing else. */
export const clusterRole = (
  annotations: readonly string[],
  { mode = "hold", auto = false }: Pick<RightsOptions, "mode" | "auto">,
): V1ClusterRole => ({
  apiVersion: `${rbac}/v1`,
  kind: "ClusterRole",
  metadata: { ...metadata, annotations: { [keysAnnotation]: annotations.join(",") } },
  rules: [
    {
      apiGroups: [""],
      resources: ["nodes"],
      verbs: mode === "hold" ? ["get", "list", "patch"] : ["get", "list"],
    },
    { apiGroups: [nodeClaimsGroup], resources: ["nodeclaims"], verbs: ["list"] },
    ...(auto ? podRights : []),
  ],
});

const podRights = [
  { apiGroups: [""], resources: ["pods"], verbs: ["list"] },
  { apiGroups: ["policy"], resources: ["poddisruptionbudgets"], verbs: ["list"] },
];

const clusterRoleBinding = (subject: Subject): V1ClusterRoleBinding => ({
  apiVersion: `${rbac}/v1`,
  kind: "ClusterRoleBinding",
  metadata,
  roleRef: { apiGroup: rbac, kind: "ClusterRole", name: holderName },
  subjects: [bound(subject)],
});

const bound = (subject: Subject) => (subject.kind === "Group" ? { ...subject, apiGroup: rbac } : subject);

/** Limits these patches to our mark under these annotations. */
export const admissionPolicy = (
  annotations: readonly string[],
  subject: Subject = holderGroup,
): V1ValidatingAdmissionPolicy => ({
  apiVersion: admission,
  kind: "ValidatingAdmissionPolicy",
  metadata,
  spec: policySpec(annotations, subject),
});

export const admissionPolicyBinding: V1ValidatingAdmissionPolicyBinding = {
  apiVersion: admission,
  kind: "ValidatingAdmissionPolicyBinding",
  metadata,
  spec: { policyName: holderName, validationActions: ["Deny"] },
};

export const clusterRolePath = `/apis/${rbac}/v1/clusterroles/${holderName}`;
export const clusterRoleBindingPath = `/apis/${rbac}/v1/clusterrolebindings/${holderName}`;

/** One object of ours in a cluster, and where it lives. */
export type AccessObject = Readonly<{ path: string; needsPolicies: boolean; object: Written }>;

type Written = Readonly<{
  apiVersion?: string;
  kind?: string;
  metadata?: { namespace?: string; annotations?: Readonly<Record<string, string>> };
}>;

function objectOf(object: Written, plural: string): AccessObject {
  const { apiVersion, metadata: { namespace } = {} } = object;
  const within = namespace ? `namespaces/${namespace}/` : "";
  const path = `/apis/${apiVersion}/${within}${plural}/${holderName}`;
  return { path, needsPolicies: apiVersion === admission, object };
}

/** Whose rights, whether nodes may be changed, and whether pods may be listed. */
export type RightsOptions = Readonly<{ subject?: Subject; mode?: Rules["mode"]; auto?: boolean }>;

/**
 * All our objects in a cluster, for these annotation keys, the present one first. The ClusterRole, which records the keys,
 * comes before the policy that lets us use them, and the policy before the binding that grants rights.
 */
export const accessManifest = (
  annotations: readonly string[],
  { subject = holderGroup, ...rights }: RightsOptions = {},
): readonly AccessObject[] => [
  objectOf(clusterRole(annotations, rights), "clusterroles"),
  objectOf(admissionPolicy(annotations, subject), "validatingadmissionpolicies"),
  objectOf(admissionPolicyBinding, "validatingadmissionpolicybindings"),
  objectOf(clusterRoleBinding(subject), "clusterrolebindings"),
];
