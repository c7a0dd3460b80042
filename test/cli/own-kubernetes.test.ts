import { expect, it } from "vitest";
import { capacityBuffers, nodePools } from "../../cli/doctor/own-kubernetes.ts";
import type { KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { KubernetesError } from "../../lambda/kubernetes/error.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { until } from "../support/context.ts";

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
