import { describe, expect, it } from "vitest";
import { accessManifest } from "../../lambda/cluster-access/manifest.ts";
import { manifestYaml, rightsToRun } from "../../lambda/cluster-access/manifest-yaml.ts";
import type { Subject } from "../../lambda/cluster-access/policy.ts";

const name = "karpenter-node-holder";
const rbac = "rbac.authorization.k8s.io";
const admission = "admissionregistration.k8s.io";
const account: Subject = { kind: "ServiceAccount", name: "it's", namespace: "holder" };
const keys = ["example.com/a", "example.com/b"];

const objectsFor = (subject?: Subject) =>
  new Map(accessManifest(keys, subject && { subject }).map(({ object }) => [object.kind, Object(object)]));

describe("our objects in a cluster", () => {
  it("have one name, and a place each", () => {
    const objects = accessManifest(keys);
    expect(objects.map(({ path }) => path)).toEqual([
      `/apis/${rbac}/v1/clusterroles/${name}`,
      `/apis/${admission}/v1/validatingadmissionpolicies/${name}`,
      `/apis/${admission}/v1/validatingadmissionpolicybindings/${name}`,
      `/apis/${rbac}/v1/clusterrolebindings/${name}`,
      `/apis/${rbac}/v1/namespaces/default/roles/${name}`,
      `/apis/${rbac}/v1/namespaces/default/rolebindings/${name}`,
    ]);
    for (const { object } of objects) expect(object.metadata).toMatchObject({ name });
    for (const { path, needsPolicies, object } of objects) {
      expect(needsPolicies).toBe(path.includes(admission));
      expect(path).toContain(`/apis/${object.apiVersion}/`);
    }
  });

  it("allow to read and patch nodes, and to list NodeClaims and the events of one namespace", () => {
    const nodes = { apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "patch"] };
    const nodeClaims = { apiGroups: ["karpenter.sh"], resources: ["nodeclaims"], verbs: ["list"] };
    expect(objectsFor().get("ClusterRole").rules).toEqual([nodes, nodeClaims]);
    expect(objectsFor().get("Role")).toMatchObject({
      metadata: { namespace: "default" },
      rules: [{ apiGroups: [""], resources: ["events"], verbs: ["list"] }],
    });
    const toRun = rightsToRun(keys).map(Object);
    expect(toRun.find(({ kind }) => kind === "ClusterRole").rules).toEqual([
      { ...nodes, verbs: [...nodes.verbs, "watch"] },
      nodeClaims,
    ]);
  });

  it.each([
    ["nothing", []],
    ["empty", [{ apiGroups: [""], resources: ["pods"], verbs: ["list"] }]],
  ] as const)("with letGo=%s give the rights to pods %j, also to run", (letGo, expected) => {
    for (const objects of [
      accessManifest(keys, { letGo }).map(({ object }) => object),
      rightsToRun(keys, { letGo }),
    ]) {
      const role = objects.map(Object).find(({ kind }) => kind === "ClusterRole");
      expect(role.rules.slice(2)).toEqual(expected);
    }
  });

  it.each([
    [undefined, { kind: "Group", name, apiGroup: rbac }],
    [account, account],
  ])("give the rights to one subject: %j", (subject, bound) => {
    for (const [binding, role] of [
      ["ClusterRoleBinding", "ClusterRole"],
      ["RoleBinding", "Role"],
    ]) {
      const { roleRef, subjects, metadata } = objectsFor(subject).get(binding);
      expect(roleRef).toEqual({ apiGroup: rbac, kind: role, name });
      expect(subjects).toEqual([bound]);
      expect(metadata.namespace).toBe(role === "Role" ? "default" : undefined);
    }
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

  it("record the annotation keys, the present one first", () => {
    expect(objectsFor().get("ClusterRole").metadata.annotations).toEqual({
      [`${name}/hold-annotations`]: "example.com/a,example.com/b",
    });
  });
});

describe("the printed manifest", () => {
  it("is the same bytes every time, and names each object once", () => {
    const text = manifestYaml(keys);
    expect(manifestYaml(keys)).toBe(text);
    // No line is folded: CEL reads better as it is written.
    expect(text).not.toMatch(/: >-?$/m);
    expect(text.match(/^kind: .*$/gm)).toEqual([...objectsFor().keys()].map((kind) => `kind: ${kind}`));
    expect(text).toContain(
      "verbs:\n      - get\n      - list\n      - patch\n  - apiGroups:\n      - karpenter.sh",
    );
  });
});
