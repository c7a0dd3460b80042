import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { unread } from "../../cli/doctor/finding.ts";
import {
  capacityBuffers,
  compareManifest,
  nodePools,
  ownKubernetes,
} from "../../cli/doctor/own-kubernetes.ts";
import { accessManifest } from "../../lambda/cluster-access/manifest.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import type { KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { explained, KubernetesError } from "../../lambda/kubernetes/error.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { answering } from "../kubernetes/answers-in-turn.ts";
import { configOf } from "../local/kubeconfigs.ts";
import { until } from "../support/context.ts";
import { newFolder } from "../support/new-folder.ts";
import { aNodePool, clusterWith } from "./advise-cluster.ts";

const { annotation } = Karpenter.v1;
const older = Karpenter["v0.31"].annotation;
const refuse = (status: number, name = "") => {
  throw explained(new KubernetesError("a call", status, { details: { name, causes: [] } }));
};
const missing = () => refuse(404, "karpenter-node-holder");
const compare = ({ api }: Readonly<{ api: KubernetesCaller }>, holdAnnotation: string) =>
  compareManifest(api, { holdAnnotation }, { deadline: noon });
it("our rights are right when all we want is there, whatever the server added", async () => {
  const stored = new Map(accessManifest(annotation).map(({ path, object }) => [path, object]));
  const server = answering(({ path }) => {
    const object = stored.get(path);
    const metadata = { ...Object(object).metadata, uid: "1", managedFields: [] };
    return { ...object, metadata, status: { observedGeneration: 1 } };
  });
  expect((await compare(server, annotation)).map(({ state }) => state)).toEqual(Array(4).fill("right"));
  const ofOthers = (await compare(server, older)).map(({ state }) => state);
  expect(ofOthers).toEqual(["right", "different", "right", "right"]);
  for (const { method } of server.calls) expect(method).toBe("GET");
});

it("our rights are missing, or of a kind that the cluster does not know, by what the answer names", async () => {
  const states = async (answer: () => unknown) =>
    (await compare(answering(answer), annotation)).map(({ state }) => state);
  expect(await states(missing)).toEqual(Array(4).fill("missing"));
  expect((await states(() => refuse(404))).slice(1, 3)).toEqual(Array(2).fill("unknown to this cluster"));
});

/** A cluster in which only objects of this kind can be listed. */
const listing = (kind: string, ...items: unknown[]) =>
  answering(({ path }) => ({ metadata: {}, items: path.endsWith(`/${kind}`) ? items : [] })).api;
const refusing = (status: number) => answering(() => refuse(status)).api;
const soon = until(noon);
const unreadable = { metadata: { name: "unreadable" } };

it("reads the NodePools that can be read, and none of a Karpenter older than v1.0, which protects by any value", async () => {
  const pools = await nodePools(listing("nodepools", aNodePool({ name: "batch" }), unreadable), soon);
  expect(pools.map(({ metadata }) => metadata.name)).toEqual(["batch"]);
  expect(await nodePools(refusing(404), soon)).toEqual([]);
});

it("finds the CapacityBuffers of all namespaces, where there is such a kind and the caller may list them", async () => {
  const api = listing("capacitybuffers", { metadata: { namespace: "web", name: "spare" } }, unreadable);
  expect(await capacityBuffers(api, soon)).toEqual(["web/spare"]);
  for (const status of [404, 403]) expect(await capacityBuffers(refusing(status), soon)).toEqual([]);
  await expect(capacityBuffers(refusing(500), soon)).rejects.toMatchObject({ status: 500 });
});

it("refuses a login that fails at once, as it does a kubeconfig that cannot be read", async () => {
  const kubeconfig = join(newFolder(), "config");
  writeFileSync(kubeconfig, JSON.stringify(configOf({}, { exec: { command: "false" } })));
  await expect(ownKubernetes(kubeconfig, undefined)).rejects.toThrow("cannot log in: false ended with 1");
});

it("takes a cluster that refuses, and does not show whether it is ready, for one that refuses", async () => {
  const { server, kubeconfig } = await clusterWith({});
  onTestFinished(() => server.stop());
  server.fail({ kind: "status", status: 403 }, {}, 1_000);
  const own = await ownKubernetes(kubeconfig, undefined);
  await expect(own.compareManifest({ holdAnnotation: annotation })).rejects.toMatchObject({ status: 403 });
  expect(await own.findCapacityBuffers()).toEqual([]);
  expect(unread(await own.findNodePools().catch((error: unknown) => error))).toMatchObject({
    ...{ verdict: "warn", remedy: expect.stringContaining("your kubeconfig's user") },
  });
  // An error that has no cause is the reason itself.
  expect(unread(new KubernetesError("GET /path", 403, { message: "no right" })).what).toContain("no right");
});

it("asks the cluster of the chosen context, and compares what is there with our objects", async () => {
  const { server: cluster, kubeconfig } = await clusterWith({ nodePools: [aNodePool({ name: "batch" })] });
  onTestFinished(() => cluster.stop());
  const text = readFileSync(kubeconfig, "utf8");
  writeFileSync(kubeconfig, JSON.stringify({ ...JSON.parse(text), "current-context": "elsewhere" }));
  const own = await ownKubernetes(kubeconfig, "fake");
  expect(own.server).toContain(cluster.server);
  expect((await own.findNodePools()).map(({ metadata }) => metadata.name)).toEqual(["batch"]);
  expect(await own.findCapacityBuffers()).toEqual([]);
  const rules = { holdAnnotation: "example.com/stay", mode: "hold", auto: true, nodeEvents: true } as const;
  const found = await own.compareManifest(rules);
  expect(found).toContainEqual({ kind: "Role", state: "missing" });
  expect(found.map(({ state }) => state)).not.toContain("right");
});
