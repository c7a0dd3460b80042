import type {
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1ValidatingAdmissionPolicy,
  V1ValidatingAdmissionPolicyBinding,
} from "@kubernetes/client-node";
import { holderName } from "../core/marks/keys.ts";
import { policySpec } from "./policy.ts";

const rbac = "rbac.authorization.k8s.io";
const admission = "admissionregistration.k8s.io/v1";
const metadata = { name: holderName };

/** Lets the holder's group read and patch nodes, and nothing else. */
export const clusterRole: V1ClusterRole = {
  apiVersion: `${rbac}/v1`,
  kind: "ClusterRole",
  metadata,
  rules: [{ apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "patch"] }],
};

export const clusterRoleBinding: V1ClusterRoleBinding = {
  apiVersion: `${rbac}/v1`,
  kind: "ClusterRoleBinding",
  metadata,
  roleRef: { apiGroup: rbac, kind: "ClusterRole", name: holderName },
  subjects: [{ kind: "Group", name: holderName, apiGroup: rbac }],
};

/** Narrows that patch down to our mark under these annotations. */
export const admissionPolicy = (annotations: readonly string[]): V1ValidatingAdmissionPolicy => ({
  apiVersion: admission,
  kind: "ValidatingAdmissionPolicy",
  metadata,
  spec: policySpec(annotations),
});

export const admissionPolicyBinding: V1ValidatingAdmissionPolicyBinding = {
  apiVersion: admission,
  kind: "ValidatingAdmissionPolicyBinding",
  metadata,
  spec: { policyName: holderName, validationActions: ["Deny"] },
};

export const policyPath = `/apis/${admission}/validatingadmissionpolicies/${holderName}`;

/** One object of ours in a cluster, and where it lives. */
export type AccessObject = Readonly<{ path: string; needsPolicies: boolean; object: { kind?: string } }>;

const objectOf = (object: { apiVersion?: string; kind?: string }, plural: string): AccessObject => ({
  path: `/apis/${object.apiVersion}/${plural}/${holderName}`,
  needsPolicies: object.apiVersion === admission,
  object,
});

/** All that is ours in a cluster; what restrains comes before what allows. */
export const accessManifest = (annotations: readonly string[]): readonly AccessObject[] => [
  objectOf(admissionPolicy(annotations), "validatingadmissionpolicies"),
  objectOf(admissionPolicyBinding, "validatingadmissionpolicybindings"),
  objectOf(clusterRole, "clusterroles"),
  objectOf(clusterRoleBinding, "clusterrolebindings"),
];
