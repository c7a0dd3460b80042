import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KubernetesAccess } from "../../lambda/cluster-access/cluster-rights.ts";
import { accessManifest, admissionPolicy } from "../../lambda/cluster-access/manifest.ts";
import { manifestYaml } from "../../lambda/cluster-access/manifest-yaml.ts";
import { BrokenSetupError, TryAgainError } from "../../lambda/core/errors.ts";
import { holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import type { KubernetesCall, KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { explained, KubernetesError } from "../../lambda/kubernetes/error.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { textsOf } from "../../simulator/fake-kubernetes/objects.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { usersLabels } from "../contracts/nodes.ts";
import { NodesOnFakeServer } from "../kubernetes/nodes-on-fake-server.ts";

const clock = { now: () => new Date() };
const { annotation } = Karpenter.v1;
const older = Karpenter["v0.31"].annotation;
const keys = { present: annotation, former: [older] };

/** An API server that notes what it is asked and answers as it is reported. */
class Answering implements KubernetesCaller {
  readonly asked: KubernetesCall[] = [];
  readonly #answer: (call: KubernetesCall) => unknown;

  constructor(answer: (call: KubernetesCall) => unknown) {
    this.#answer = answer;
  }

  async call(call: KubernetesCall): Promise<unknown> {
    this.asked.push(call);
    return this.#answer(call);
  }
}

const refuse = (status: number, name = "") => {
  throw explained(new KubernetesError("a call", status, { details: { name, causes: [] } }));
};
const missing = () => refuse(404, "karpenter-node-holder");
const accessOf = (api: KubernetesCaller) => new KubernetesAccess({ api, clock, log: new CollectedLog() });
const policy = admissionPolicy([annotation]);
const { matchConstraints: constraints, matchConditions: conditions = [] } = policy.spec ?? {};
const kindOf = ({ path }: KubernetesCall) => path.split("/").at(-2);

describe("our rights in a cluster", () => {
  it("are written by server-side apply, what restrains before what allows", async () => {
    const api = new Answering(({ body }) => body);
    expect(await accessOf(api).write([annotation])).toBe("with policy");
    expect(api.asked.map(kindOf)).toEqual([
      "validatingadmissionpolicies",
      "validatingadmissionpolicybindings",
      "clusterroles",
      "clusterrolebindings",
      "roles",
      "rolebindings",
    ]);
    for (const { method, query, contentType } of api.asked) {
      expect({ method, query, contentType }).toEqual({
        method: "PATCH",
        query: { fieldManager: "karpenter-node-holder", force: "true" },
        contentType: "application/apply-patch+yaml",
      });
    }
  });

  it("are removed with the record of the keys last, and what is missing is done", async () => {
    const api = new Answering(missing);
    await accessOf(api).remove();
    expect(api.asked.map((call) => `${call.method} ${kindOf(call)}`)).toEqual([
      "DELETE validatingadmissionpolicies",
      "DELETE validatingadmissionpolicybindings",
      "DELETE clusterrolebindings",
      "DELETE roles",
      "DELETE rolebindings",
      "DELETE clusterroles",
    ]);
  });

  it("do without the policy where the cluster knows none", async () => {
    const api = new Answering(({ path, body }) => (path.includes("admission") ? refuse(404) : (body ?? {})));
    expect(await accessOf(api).write([annotation])).toBe("without policy");
    expect(api.asked.map(kindOf)).toContain("clusterrolebindings");
    const states = (await accessOf(api).check([annotation])).map(({ kind, state }) => `${kind}: ${state}`);
    expect(states.slice(0, 2)).toEqual([
      "ValidatingAdmissionPolicy: unknown to this cluster",
      "ValidatingAdmissionPolicyBinding: unknown to this cluster",
    ]);
  });

  it("report what to check when we may not write them", async () => {
    const failure = accessOf(new Answering(() => refuse(403))).write([annotation]);
    await expect(failure).rejects.toBeInstanceOf(BrokenSetupError);
    await expect(failure).rejects.toMatchObject({ cause: { status: 403 } });
  });

  it("record the annotation keys in the policy, and for clusters without policies on the ClusterRole", async () => {
    const objects = new Map(accessManifest([older, annotation]).map(({ path, object }) => [path, object]));
    const stored = (kind: string) =>
      accessOf(new Answering(({ path }) => (path.includes(kind) ? objects.get(path) : missing())));
    for (const kind of ["admissionpolicies", "clusterroles"])
      expect(await stored(kind).annotations()).toEqual([older, annotation]);
    expect(await stored("none").annotations()).toEqual([]);
  });

  it("record only valid keys, also when the objects were changed", async () => {
    const foreign = {
      metadata: { annotations: { "karpenter-node-holder/hold-annotations": "x,y/'z" } },
      spec: { variables: [null, { name: "keys", expression: { toString: 1 } }] },
    };
    expect(await accessOf(new Answering(() => foreign)).annotations()).toEqual([]);
    await expect(accessOf(new Answering(() => "<html>")).annotations()).rejects.toThrow(TryAgainError);
  });

  it("are right when all we want is there, whatever the server added", async () => {
    const stored = new Map(accessManifest([annotation]).map(({ path, object }) => [path, object]));
    const api = new Answering(({ path }) => {
      const object = stored.get(path);
      const metadata = { ...Object(object).metadata, uid: "1", managedFields: [] };
      return { ...object, metadata };
    });
    expect((await accessOf(api).check([annotation])).map(({ state }) => state)).toEqual(
      Array(6).fill("right"),
    );
    expect((await accessOf(api).check([older]))[0]?.state).toBe("different");
  });

  it.each<[string, object, string]>([
    [
      "a rule that excludes nodes",
      { matchConstraints: { ...constraints, excludeResourceRules: [{}] } },
      "different",
    ],
    ["another failure policy", { failurePolicy: "Ignore" }, "different"],
    [
      "a condition more",
      { matchConditions: [...conditions, { name: "x", expression: "false" }] },
      "different",
    ],
    [
      "a selector",
      { matchConstraints: { ...constraints, objectSelector: { matchLabels: { x: "y" } } } },
      "different",
    ],
    ["a parameter", { paramKind: { apiVersion: "v1", kind: "ConfigMap" } }, "different"],
    ["nothing", {}, "right"],
  ])("are compared as a whole: a policy with %s", async (_, spec, state) => {
    const changed = { ...policy, spec: { ...policy.spec, ...spec } };
    const api = new Answering(({ path }) => (path.includes("policies/") ? changed : {}));
    expect((await accessOf(api).check([annotation]))[0]?.state).toBe(state);
  });

  it("are missing, or of a kind that the cluster does not know, by what the answer names", async () => {
    const states = async (answer: () => unknown) =>
      (await accessOf(new Answering(answer)).check([annotation])).map(({ state }) => state);
    expect(await states(missing)).toEqual(Array(6).fill("missing"));
    expect((await states(() => refuse(404))).slice(0, 2)).toEqual(Array(2).fill("unknown to this cluster"));
  });

  it("are different where the ClusterRole records other annotation keys", async () => {
    const stored = new Map(accessManifest([older]).map(({ path, object }) => [path, object]));
    const found = await accessOf(new Answering(({ path }) => stored.get(path))).check([annotation]);
    expect(found.find(({ kind }) => kind === "ClusterRole")?.state).toBe("different");
  });

  it("replace an object in which others have set fields of their own", async () => {
    const foreign = { spec: {}, metadata: { resourceVersion: "7" } };
    const api = new Answering(({ path, body }) => (path.includes("bindings") ? foreign : body));
    await accessOf(api).write([annotation]);
    const replaced = api.asked.filter(({ method }) => method === "PUT");
    expect(replaced.map(kindOf)).toEqual([
      "validatingadmissionpolicybindings",
      "clusterrolebindings",
      "rolebindings",
    ]);
    for (const { body } of replaced) {
      expect(body).toMatchObject({ metadata: { name: "karpenter-node-holder", resourceVersion: "7" } });
    }
  });
});

describe("the printed manifest", () => {
  it("is the same bytes every time, and names each object once", () => {
    const text = manifestYaml([annotation]);
    expect(manifestYaml([annotation])).toBe(text);
    expect(text.match(/^kind: .*$/gm)).toEqual([
      "kind: ValidatingAdmissionPolicy",
      "kind: ValidatingAdmissionPolicyBinding",
      "kind: ClusterRole",
      "kind: ClusterRoleBinding",
      "kind: Role",
      "kind: RoleBinding",
    ]);
    expect(text).toContain(
      "verbs:\n      - get\n      - list\n      - patch\n  - apiGroups:\n      - karpenter.sh",
    );
  });

  it("names the keys it is for", () => {
    expect(manifestYaml([older, annotation])).toContain(`[''${older}'', ''${annotation}'']`);
  });
});

describe("all marks of a cluster", () => {
  let world: NodesOnFakeServer;
  let access: KubernetesAccess;
  beforeEach(async () => {
    world = await NodesOnFakeServer.open();
    access = new KubernetesAccess({ api: world.client, clock, log: world.log, pageSize: 2 });
  });
  afterEach(() => world.close());

  const add = (name: string, label: string, annotations: Record<string, string>) =>
    world.standIn.addNode({ name, labels: { [holdLabel]: label }, annotations });
  const annotationsOf = (name: string) =>
    textsOf(world.standIn.nodes().find(({ metadata }) => metadata.name === name)?.metadata.annotations);

  it("move to another key without a gap", async () => {
    for (const name of ["a", "b", "c"]) add(name, holdId(1), { [older]: "true" });
    const gaps: string[] = [];
    world.standIn.onChange(({ node }) => {
      const keys = Object.keys(textsOf(node.metadata.annotations));
      if (!keys.includes(older) && !keys.includes(annotation)) gaps.push(node.metadata.name);
    });
    expect(await access.moveMarks(keys)).toBe(3);
    expect(gaps).toEqual([]);
    expect(annotationsOf("c")).toEqual({ [annotation]: "true" });
    expect(await access.moveMarks(keys)).toBe(0);
  });

  it("leave to its owner a node that the owner holds under the other key", async () => {
    add("a", holdId(1), { [older]: "true", [annotation]: "true" });
    add("b", holdId(1), { [annotation]: "8h" });
    add("c", holdId(1), { [older]: "true" });

    // Only the third is moved.
    expect(await access.moveMarks(keys)).toBe(1);

    expect(annotationsOf("a")).toEqual({ [annotation]: "true" });
    expect(annotationsOf("b")).toEqual({ [annotation]: "8h" });
    expect(annotationsOf("c")).toEqual({ [annotation]: "true" });
    const labelled = world.standIn.nodes().filter(({ metadata }) => textsOf(metadata.labels)[holdLabel]);
    expect(labelled.map(({ metadata }) => metadata.name)).toEqual(["c"]);
  });

  it("leave nothing under the old key on a node that was marked under the new key meanwhile", async () => {
    add("a", holdId(2), { [older]: "true" });
    const path = "/api/v1/nodes/a";
    const body = { metadata: { annotations: { [annotation]: "true" } } };
    const contentType = "application/merge-patch+json";
    const call = {
      method: "PATCH",
      path,
      query: { fieldManager: "karpenter-node-holder" },
      contentType,
      body,
    } as const;
    await world.client.call(call, world.soon());

    expect(await access.moveMarks(keys)).toBe(1);
    expect(annotationsOf("a")).toEqual({ [annotation]: "true" });
    expect(await access.removeMarks(keys)).toBe(1);
    expect(annotationsOf("a")).toEqual({});
  });

  it("come off, whatever hold they are of, and nothing of the users' does", async () => {
    add("a", holdId(1), { [annotation]: "true" });
    add("b", holdId(2), { [annotation]: "true" });
    usersLabels.forEach((label, n) => void add(`users-${n}`, label, { [annotation]: "true" }));
    add("e", holdId(2), { [annotation]: "8h" });
    world.standIn.addNode({ name: "f", annotations: { [annotation]: "true" } });

    expect(await access.removeMarks(keys)).toBe(2);

    expect(["a", "b"].map(annotationsOf)).toEqual([{}, {}]);
    const users = [...usersLabels.keys()].map((n) => `users-${n}`);
    for (const name of ["f", ...users]) expect(annotationsOf(name)).toEqual({ [annotation]: "true" });
    const labels = world.standIn.nodes().flatMap(({ metadata }) => textsOf(metadata.labels)[holdLabel] ?? []);
    expect(labels.toSorted()).toEqual(usersLabels.toSorted());
    expect(annotationsOf("e")).toEqual({ [annotation]: "8h" });
  });

  it("leave a node alone that is set to never while they come off", async () => {
    add("a", holdId(1), { [annotation]: "true" });
    world.onRequest = ({ method }) => {
      if (method !== "PATCH") return;
      world.onRequest = () => {};
      world.standIn.editNode("a", { labels: { [holdLabel]: "never" } });
    };
    expect(await access.removeMarks(keys)).toBe(0);
    expect(annotationsOf("a")).toEqual({ [annotation]: "true" });
  });

  it("are not called done while some could not be changed", async () => {
    for (const name of ["a", "b", "c"]) add(name, holdId(1), { [annotation]: "true" });
    world.standIn.fail({ kind: "status", status: 500 }, { path: "/api/v1/nodes/b" }, 99);
    const failure = access.removeMarks(keys);
    await expect(failure).rejects.toBeInstanceOf(TryAgainError);
    await expect(failure).rejects.toThrow("the marks of 1 nodes could not be released");
    expect(["a", "c"].map(annotationsOf)).toEqual([{}, {}]);
  });
});
