import type {
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1Role,
  V1RoleBinding,
  V1ValidatingAdmissionPolicy,
  V1ValidatingAdmissionPolicyBinding,
} from "@kubernetes/client-node";
import { holderName } from "../core/marks/keys.ts";
import type { Rules } from "../core/rules.ts";
import { eventsNamespace } from "../kubernetes/node-events.ts";
import { nodeClaimsGroup } from "../kubernetes/nodeclaims.ts";
import { holderGroup, policySpec, type Subject } from "./policy.ts";

export const rbac = "rbac.authorization.k8s.io";
const admission = "admissionregistration.k8s.io/v1";
const metadata = { name: holderName };

/** Lets the holder read nodes, patch them unless it only observes, list NodeClaims, with `hold=auto` pods, and nothing else. */
export const clusterRole = ({
  mode = "hold",
  auto = false,
}: Pick<RightsOptions, "mode" | "auto">): V1ClusterRole => ({
  apiVersion: `${rbac}/v1`,
  kind: "ClusterRole",
  metadata,
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

const ofEvents = { ...metadata, namespace: eventsNamespace };
/** Lets the holder create Events where those about nodes are; RBAC cannot limit which ones. */
const eventsRole: V1Role = {
  apiVersion: `${rbac}/v1`,
  kind: "Role",
  metadata: ofEvents,
  rules: [{ apiGroups: [""], resources: ["events"], verbs: ["create"] }],
};

const eventsRoleBinding = (subject: Subject): V1RoleBinding => ({
  apiVersion: `${rbac}/v1`,
  kind: "RoleBinding",
  metadata: ofEvents,
  roleRef: { apiGroup: rbac, kind: "Role", name: holderName },
  subjects: [bound(subject)],
});

/** Names the deployment whose rights these are. */
export const holderAnnotation = "karpenter-node-holder/holder";

const clusterRoleBinding = (subject: Subject, holder: string | undefined): V1ClusterRoleBinding => ({
  apiVersion: `${rbac}/v1`,
  kind: "ClusterRoleBinding",
  metadata: { ...metadata, ...(holder && { annotations: { [holderAnnotation]: holder } }) },
  roleRef: { apiGroup: rbac, kind: "ClusterRole", name: holderName },
  subjects: [bound(subject)],
});

export const bound = (subject: Subject) =>
  subject.kind === "Group" ? { ...subject, apiGroup: rbac } : subject;

/** Limits these patches to our mark under this annotation. */
export const admissionPolicy = (
  annotation: string,
  subject: Subject = holderGroup,
): V1ValidatingAdmissionPolicy => ({
  apiVersion: admission,
  kind: "ValidatingAdmissionPolicy",
  metadata,
  spec: policySpec(annotation, subject),
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

type Written = Readonly<{ apiVersion?: string; kind?: string; metadata?: object }>;

const objectOf = (object: Written, kinds: string): AccessObject => ({
  path: `/apis/${object.apiVersion}/${kinds}/${holderName}`,
  needsPolicies: object.apiVersion === admission,
  object,
});

/** Whose rights, of which deployment, whether nodes may be changed, pods listed, and Events written. */
export type RightsOptions = Readonly<{
  subject?: Subject;
  holder?: string;
  mode?: Rules["mode"];
  auto?: boolean;
  nodeEvents?: boolean;
}>;

/** All our objects in a cluster, for marks by this annotation. The policy, which restrains, comes before the binding. */
export const accessManifest = (
  annotation: string,
  { subject = holderGroup, holder, nodeEvents = false, ...rights }: RightsOptions = {},
): readonly AccessObject[] => [
  objectOf(clusterRole(rights), "clusterroles"),
  objectOf(admissionPolicy(annotation, subject), "validatingadmissionpolicies"),
  objectOf(admissionPolicyBinding, "validatingadmissionpolicybindings"),
  objectOf(clusterRoleBinding(subject, holder), "clusterrolebindings"),
  ...(nodeEvents
    ? [
        objectOf(eventsRole, `namespaces/${eventsNamespace}/roles`),
        objectOf(eventsRoleBinding(subject), `namespaces/${eventsNamespace}/rolebindings`),
      ]
    : []),
];

/** All that a deployment may have written, whatever its settings. */
export const everyAccessObject = accessManifest("", { nodeEvents: true });
