import { describe, expect, it } from "vitest";
import { accessManifest } from "../../lambda/cluster-access/manifest.ts";
import type { Subject } from "../../lambda/cluster-access/policy.ts";
import { manifestYaml, rightsToRun } from "../../local/run/manifest-yaml.ts";

const name = "karpenter-node-holder";
const rbac = "rbac.authorization.k8s.io";
const admission = "admissionregistration.k8s.io";
const account: Subject = { kind: "ServiceAccount", name: "it's", namespace: "holder" };
const annotation = "example.com/a";

const objectsFor = (subject?: Subject) =>
  new Map(
    accessManifest(annotation, subject && { subject }).map(({ object }) => [object.kind, Object(object)]),
  );

describe("our objects in a cluster", () => {
  it("have one name, and a place each", () => {
    const objects = accessManifest(annotation);
    expect(objects.map(({ path }) => path)).toEqual([
      `/apis/${rbac}/v1/clusterroles/${name}`,
      `/apis/${admission}/v1/validatingadmissionpolicies/${name}`,
      `/apis/${admission}/v1/validatingadmissionpolicybindings/${name}`,
      `/apis/${rbac}/v1/clusterrolebindings/${name}`,
    ]);
    for (const { object } of objects) expect(object.metadata).toMatchObject({ name });
    for (const { path, needsPolicies, object } of objects) {
      expect(needsPolicies).toBe(path.includes(admission));
      expect(path).toContain(`/apis/${object.apiVersion}/`);
    }
  });

  it.each([
    ["hold", ["get", "list", "patch"]],
    ["observe", ["get", "list"]],
  ] as const)("allow with mode=%s %j of nodes, to list NodeClaims, and nothing else", (mode, verbs) => {
    const roleIn = (objects: readonly object[]) =>
      objects.map(Object).find(({ kind }) => kind === "ClusterRole").rules;
    const nodeClaims = { apiGroups: ["karpenter.sh"], resources: ["nodeclaims"], verbs: ["list"] };
    expect(roleIn(accessManifest(annotation, { mode }).map(({ object }) => object))).toEqual([
      { apiGroups: [""], resources: ["nodes"], verbs },
      nodeClaims,
    ]);
    expect(roleIn(rightsToRun(annotation, { mode }))).toEqual([
      { apiGroups: [""], resources: ["nodes"], verbs: [...verbs, "watch"] },
      nodeClaims,
    ]);
  });

  it.each([[undefined], [account]])(
    "allow to create Events in namespace default where that is asked for, and nothing else there: %j",
    (subject) => {
      const all = accessManifest(annotation, { nodeEvents: true, ...(subject && { subject }) });
      const [role, binding, ...others] = all
        .slice(accessManifest(annotation).length)
        .map(({ object }) => Object(object));
      expect(others).toEqual([]);
      expect(role).toMatchObject({ kind: "Role", metadata: { name, namespace: "default" } });
      expect(role.rules).toEqual([{ apiGroups: [""], resources: ["events"], verbs: ["create"] }]);
      expect(binding).toMatchObject({ kind: "RoleBinding", metadata: { name, namespace: "default" } });
      expect(binding.roleRef).toMatchObject({ kind: "Role", name });
      expect(binding.subjects).toEqual(objectsFor(subject).get("ClusterRoleBinding").subjects);
    },
  );

  it.each([
    [undefined, { kind: "Group", name, apiGroup: rbac }],
    [account, account],
  ])("give the rights to one subject: %j", (subject, bound) => {
    expect(objectsFor(subject).get("ClusterRoleBinding")).toMatchObject({
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name },
      subjects: [bound],
    });
  });

  it("restrict all updates of nodes, and fail closed", () => {
    const { failurePolicy, matchConstraints } = objectsFor().get("ValidatingAdmissionPolicy").spec;
    expect(failurePolicy).toBe("Fail");
    expect(matchConstraints).toEqual({
      matchPolicy: "Equivalent",
      namespaceSelector: {},
      objectSelector: {},
      resourceRules: [
        { apiGroups: [""], apiVersions: ["*"], operations: ["UPDATE"], resources: ["nodes"], scope: "*" },
      ],
    });
  });
});

describe("the rights of run", () => {
  it.each([[undefined], [account]])(
    "have one Lease in kube-system beside, for the same subject: %j",
    (subject) => {
      const objects = rightsToRun(annotation, subject && { subject }).map(Object);
      const find = (wanted: string) => objects.find(({ kind }) => kind === wanted);
      const leases = { apiGroups: ["coordination.k8s.io"], resources: ["leases"] };
      expect(find("Role")).toMatchObject({
        metadata: { name, namespace: "kube-system" },
        rules: [
          { ...leases, verbs: ["create"] },
          { ...leases, resourceNames: [name], verbs: ["get", "update"] },
        ],
      });
      expect(find("RoleBinding").subjects).toEqual(find("ClusterRoleBinding").subjects);
      expect(find("RoleBinding").roleRef).toMatchObject({ kind: "Role", name });
      expect(accessManifest(annotation).map(({ object }) => object.kind)).not.toContain("Role");
    },
  );
});

describe("the printed manifest", () => {
  it("is the same bytes every time, and names each object once", () => {
    const text = manifestYaml(annotation);
    expect(manifestYaml(annotation)).toBe(text);
    // No line is folded: CEL reads better as it is written.
    expect(text).not.toMatch(/: >-?$/m);
    expect(text.match(/^kind: .*$/gm)).toEqual([...objectsFor().keys()].map((kind) => `kind: ${kind}`));
    expect(text).toContain(
      "verbs:\n      - get\n      - list\n      - patch\n  - apiGroups:\n      - karpenter.sh",
    );
  });
});
