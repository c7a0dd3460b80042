import { describe, expect, it } from "vitest";
import { KubernetesAccess } from "../../lambda/cluster-access/cluster-rights.ts";
import { accessManifest, admissionPolicy, everyAccessObject } from "../../lambda/cluster-access/manifest.ts";
import { after, seconds } from "../../lambda/core/duration.ts";
import { BrokenSetupError } from "../../lambda/core/errors.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import type { KubernetesCall, KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { explained, KubernetesError } from "../../lambda/kubernetes/error.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { answering } from "../kubernetes/answers-in-turn.ts";

const clock = { now: () => new Date() };
const { annotation } = Karpenter.v1;
const older = Karpenter["v0.31"].annotation;

const refuse = (status: number, name = "") => {
  throw explained(new KubernetesError("a call", status, { details: { name, causes: [] } }));
};
const missing = () => refuse(404, "karpenter-node-holder");
const none = () => ({});
const accessOf = ({ api }: Readonly<{ api: KubernetesCaller }>, nodeEvents = false) =>
  new KubernetesAccess({ api, clock, log: new CollectedLog(), nodeEvents });
const policy = admissionPolicy([annotation]);
const { matchConstraints: constraints, matchConditions: conditions = [] } = policy.spec ?? {};
const kindOf = ({ path }: KubernetesCall) => path.split("/").at(-2);

describe("our rights in a cluster", () => {
  it("are written by server-side apply: the role, what restrains, then what allows", async () => {
    const server = answering(({ body }) => body);
    expect(await accessOf(server).write(annotation)).toBe("with policy");
    const written = server.calls.filter(({ method }) => method !== "DELETE");
    expect(written.map(({ path }) => path)).toEqual(accessManifest([annotation]).map(({ path }) => path));
    for (const { method, query, contentType } of written) {
      expect({ method, query, contentType }).toEqual({
        method: "PATCH",
        query: { fieldManager: "karpenter-node-holder", force: "true" },
        contentType: "application/apply-patch+yaml",
      });
    }
  });

  it("are removed, and what is missing is done", async () => {
    const server = answering(missing);
    await accessOf(server).remove();
    expect(server.calls.map(({ path }) => path)).toEqual(everyAccessObject.map(({ path }) => path));
    for (const { method } of server.calls) expect(method).toBe("DELETE");
  });

  it("to write Events are written where the settings ask for them, and else taken back", async () => {
    const ofEvents = (server: ReturnType<typeof answering>) =>
      server.calls
        .filter(({ path }) => path.includes("/namespaces/"))
        .map(({ method, path }) => [method, path]);
    const paths = ["roles", "rolebindings"].map(
      (kind) => `/apis/rbac.authorization.k8s.io/v1/namespaces/default/${kind}/karpenter-node-holder`,
    );
    for (const [nodeEvents, method] of [
      [true, "PATCH"],
      [false, "DELETE"],
    ] as const) {
      const server = answering((call) => (call.method === "DELETE" ? missing() : call.body));
      await accessOf(server, nodeEvents).write(annotation);
      expect(ofEvents(server)).toEqual(paths.map((path) => [method, path]));
    }
  });

  it("do without the policy where the cluster knows none", async () => {
    const server = answering(({ path, body }) => (path.includes("admission") ? refuse(404) : (body ?? {})));
    expect(await accessOf(server).write(annotation)).toBe("without policy");
    expect(server.calls.map(kindOf)).toContain("clusterrolebindings");
  });

  it("report what to check when we may not write them", async () => {
    const failure = accessOf(answering(() => refuse(403))).write(annotation);
    await expect(failure).rejects.toBeInstanceOf(BrokenSetupError);
    await expect(failure).rejects.toMatchObject({ cause: { status: 403 } });
  });

  it.each([403, 404])("cannot be written where the ClusterRole is answered with %i", async (status) => {
    const server = answering(({ path, body }) => (path.includes("roles/") ? refuse(status) : body));
    await expect(accessOf(server).write(annotation)).rejects.toThrow();
  });

  it("cannot be checked, read or removed where the cluster refuses", async () => {
    const access = accessOf(answering(() => refuse(403)));
    for (const call of [
      () => access.check([annotation]),
      () => access.otherMarks(annotation),
      () => access.revoke(),
      () => access.remove(),
    ])
      await expect(call()).rejects.toThrow(BrokenSetupError);
  });

  it("are revoked by removing the bindings", async () => {
    const server = answering(none);
    await accessOf(server).revoke();
    const of = "/apis/rbac.authorization.k8s.io/v1";
    expect(server.calls).toEqual([
      { method: "DELETE", path: `${of}/clusterrolebindings/karpenter-node-holder` },
      { method: "DELETE", path: `${of}/namespaces/default/rolebindings/karpenter-node-holder` },
    ]);
  });

  it.each<[string, object, number]>([
    ["two minutes", {}, 120],
    ["a time limit", { timeLimit: seconds(7) }, 7],
    ["an earlier end of all work", { until: after(noon, seconds(5)), timeLimit: seconds(7) }, 5],
    ["a time limit before the end of all work", { until: after(noon, seconds(9)), timeLimit: seconds(7) }, 7],
  ])("are changed within %s", async (_, options, expected) => {
    let end: Date | undefined;
    const api: KubernetesCaller = {
      call: async (_call, { deadline }) => {
        end = deadline;
        return {};
      },
    };
    await new KubernetesAccess({
      api,
      clock: { now: () => noon },
      log: new CollectedLog(),
      ...options,
    }).revoke();
    expect(end).toEqual(after(noon, seconds(expected)));
  });

  it("are right when all we want is there, whatever the server added", async () => {
    const stored = new Map(accessManifest([annotation]).map(({ path, object }) => [path, object]));
    const server = answering(({ path }) => {
      const object = stored.get(path);
      const metadata = { ...Object(object).metadata, uid: "1", managedFields: [] };
      return { ...object, metadata, status: { observedGeneration: 1 } };
    });
    expect((await accessOf(server).check([annotation])).map(({ state }) => state)).toEqual(
      Array(4).fill("right"),
    );
    const ofOthers = (await accessOf(server).check([older])).map(({ state }) => state);
    expect(ofOthers).toEqual(["right", "different", "right", "right"]);
    for (const { method } of server.calls) expect(method).toBe("GET");
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
    const server = answering(({ path }) => (path.includes("policies/") ? changed : {}));
    const found = await accessOf(server).check([annotation]);
    expect(found.find(({ kind }) => kind === "ValidatingAdmissionPolicy")?.state).toBe(state);
  });

  it("are missing, or of a kind that the cluster does not know, by what the answer names", async () => {
    const states = async (answer: () => unknown) =>
      (await accessOf(answering(answer)).check([annotation])).map(({ state }) => state);
    expect(await states(missing)).toEqual(Array(4).fill("missing"));
    expect((await states(() => refuse(404))).slice(1, 3)).toEqual(Array(2).fill("unknown to this cluster"));
  });

  it("replace an object in which others have set fields of their own", async () => {
    const foreign = { spec: {}, metadata: { resourceVersion: "7" } };
    const server = answering(({ path, body }) => (path.includes("bindings") ? foreign : body));
    await accessOf(server).write(annotation);
    const replaced = server.calls.filter(({ method }) => method === "PUT");
    expect(replaced.map(kindOf)).toEqual(["validatingadmissionpolicybindings", "clusterrolebindings"]);
    for (const { body } of replaced) {
      expect(body).toMatchObject({ metadata: { name: "karpenter-node-holder", resourceVersion: "7" } });
    }
  });

  it.each<[unknown, string]>([
    [7, "our ClusterRole must be an object, not 7"],
    ["<html>", "our ClusterRole must be an object"],
  ])("are not compared with an answer that is no object: %j", async (answer, message) => {
    await expect(accessOf(answering(() => answer)).check([annotation])).rejects.toThrow(message);
  });
});
