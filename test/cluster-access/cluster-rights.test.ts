import { describe, expect, it } from "vitest";
import { KubernetesAccess } from "../../lambda/cluster-access/cluster-rights.ts";
import { accessManifest, everyAccessObject } from "../../lambda/cluster-access/manifest.ts";
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

const refuse = (status: number, name = "") => {
  throw explained(new KubernetesError("a call", status, { details: { name, causes: [] } }));
};
const missing = () => refuse(404, "karpenter-node-holder");
const rbac = "/apis/rbac.authorization.k8s.io/v1";
const accessOf = ({ api }: Readonly<{ api: KubernetesCaller }>, nodeEvents = false) =>
  new KubernetesAccess({ api, clock, log: new CollectedLog(), nodeEvents });
const kindOf = ({ path }: KubernetesCall) => path.split("/").at(-2);

describe("our rights in a cluster", () => {
  it("are written by server-side apply: the role, what restrains, then what allows", async () => {
    const server = answering(({ body }) => body);
    expect(await accessOf(server).write(annotation)).toBe("with policy");
    const written = server.calls.filter(({ method }) => method !== "DELETE");
    expect(written.map(({ path }) => path)).toEqual(accessManifest(annotation).map(({ path }) => path));
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
    for (const nodeEvents of [true, false]) {
      const server = answering((call) => (call.method === "DELETE" ? missing() : call.body));
      await accessOf(server, nodeEvents).write(annotation);
      const calls = server.calls.map(({ method, path }) => `${method} ${path}`);
      const where = `${nodeEvents ? "PATCH" : "DELETE"} ${rbac}/namespaces/default`;
      expect(calls.filter((call) => call.includes("/namespaces/"))).toEqual([
        ...[`${where}/roles/karpenter-node-holder`, `${where}/rolebindings/karpenter-node-holder`],
      ]);
    }
  });

  it("do without the policy where the cluster knows none", async () => {
    const server = answering(({ path, body }) => (path.includes("admission") ? refuse(404) : (body ?? {})));
    expect(await accessOf(server).write(annotation)).toBe("without policy");
    expect(server.calls.map(kindOf)).toContain("clusterrolebindings");
  });

  it("cannot be written where the cluster does not know a ClusterRole", async () => {
    const server = answering(({ path, body }) => (path.includes("roles/") ? refuse(404) : body));
    await expect(accessOf(server).write(annotation)).rejects.toThrow();
  });

  it("cannot be written, read or removed where the cluster refuses", async () => {
    const access = accessOf(answering(() => refuse(403)));
    for (const call of [
      () => access.write(annotation),
      () => access.otherMarks(annotation),
      () => access.revoke(),
      () => access.remove(),
    ])
      await expect(call()).rejects.toThrow(BrokenSetupError);
  });

  it("are revoked by removing the bindings", async () => {
    const server = answering(() => ({}));
    await accessOf(server).revoke();
    expect(server.calls).toEqual([
      { method: "DELETE", path: `${rbac}/clusterrolebindings/karpenter-node-holder` },
      { method: "DELETE", path: `${rbac}/namespaces/default/rolebindings/karpenter-node-holder` },
    ]);
  });

  it.each<[string, object, number]>([
    ["four minutes", {}, 240],
    ["an earlier end of all work", { until: after(noon, seconds(5)) }, 5],
    ["four minutes before the end of all work", { until: after(noon, seconds(241)) }, 240],
  ])("are changed within %s", async (_, options, expected) => {
    const ends: Date[] = [];
    const api: KubernetesCaller = { call: async (_call, { deadline }) => ends.push(deadline) };
    const about = { api, clock: { now: () => noon }, log: new CollectedLog() };
    await new KubernetesAccess({ ...about, ...options }).revoke();
    expect(ends.at(-1)).toEqual(after(noon, seconds(expected)));
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
    await expect(accessOf(answering(() => answer)).write(annotation)).rejects.toThrow(message);
  });
});
