import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { capacityBuffers, nodePools, ownKubernetes } from "../../cli/doctor/own-kubernetes.ts";
import type { KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { KubernetesError } from "../../lambda/kubernetes/error.ts";
import { serveHttp } from "../../local/http-server.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { until } from "../support/context.ts";
import { newFolder } from "../support/new-folder.ts";

const aNodePool = (name: string, annotations?: Readonly<Record<string, string>>) => ({
  metadata: { name },
  spec: { template: { ...(annotations && { metadata: { annotations } }) } },
});
const answering = (kind: string, ...items: unknown[]): KubernetesCaller => ({
  call: async ({ path }) => ({ metadata: {}, items: path.endsWith(`/${kind}`) ? items : [] }),
});
const refusing = (status: number): KubernetesCaller => ({
  call: async () => {
    throw new KubernetesError("GET", status, {});
  },
});
const soon = until(noon);
const unreadable = { metadata: { name: "unreadable" } };

it("reads the NodePools that can be read", async () => {
  const pools = await nodePools(
    answering("nodepools", aNodePool("batch", { "example.com/x": "30m" }), unreadable),
    soon,
  );
  expect(pools.map(({ metadata }) => metadata.name)).toEqual(["batch"]);
});

it("finds no NodePool where Karpenter is older than v1.0, which protects by any value", async () => {
  expect(await nodePools(refusing(404), soon)).toEqual([]);
});

it("finds the CapacityBuffers of all namespaces", async () => {
  const api = answering("capacitybuffers", { metadata: { namespace: "web", name: "spare" } }, unreadable);
  expect(await capacityBuffers(api, soon)).toEqual(["web/spare"]);
});

it("finds no CapacityBuffer where there is no such kind, or where the caller may not list them", async () => {
  expect(await capacityBuffers(refusing(404), soon)).toEqual([]);
  expect(await capacityBuffers(refusing(403), soon)).toEqual([]);
  await expect(capacityBuffers(refusing(500), soon)).rejects.toMatchObject({ status: 500 });
});

it("asks the cluster of the chosen context, and compares what is there with our objects", async () => {
  const served = { metadata: {}, items: [aNodePool("batch")] };
  const cluster = await serveHttp(({ url = "" }, response) => {
    const isThere = url.includes("/nodepools");
    response.writeHead(isThere ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(isThere ? served : {}));
  });
  const kubeconfig = join(newFolder(), "config");
  const contexts = ["elsewhere", "here"].map((name) => ({ name, context: { cluster: name, user: "me" } }));
  const clusters = [
    { name: "elsewhere", cluster: { server: "http://127.0.0.1:1" } },
    { name: "here", cluster: { server: cluster.url, "insecure-skip-tls-verify": true } },
  ];
  const users = [{ name: "me", user: { token: "t" } }];
  writeFileSync(kubeconfig, JSON.stringify({ contexts, clusters, users, "current-context": "elsewhere" }));
  const own = ownKubernetes(kubeconfig, "here");
  try {
    expect((await own.findNodePools()).map(({ metadata }) => metadata.name)).toEqual(["batch"]);
    expect(await own.findCapacityBuffers()).toEqual([]);
    const rules = { holdAnnotation: "example.com/stay", mode: "hold", auto: true, nodeEvents: true } as const;
    const found = await own.compareManifest(rules);
    expect(found).toContainEqual({ kind: "Role", state: "missing" });
    expect(found.map(({ state }) => state)).not.toContain("right");
  } finally {
    await cluster.stop();
  }
});
