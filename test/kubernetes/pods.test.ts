import { describe, expect, it } from "vitest";
import { after, minutes } from "../../lambda/core/duration.ts";
import { type KubernetesCall, OutOfTimeError } from "../../lambda/kubernetes/client.ts";
import { KubernetesPods } from "../../lambda/kubernetes/pods.ts";
import { FakeCluster } from "../../simulator/fake-kubernetes/fake-cluster.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { podsContract } from "../contracts/pods.ts";
import { until } from "../support/context.ts";

const soon = until(after(noon, minutes(1)));

/** The port on a fake cluster, with all of its calls. */
function aCluster(answer: (call: KubernetesCall, cluster: FakeCluster) => unknown = ask) {
  const cluster = new FakeCluster(() => noon);
  const calls: KubernetesCall[] = [];
  let [running, most] = [0, 0];
  const call = async (one: KubernetesCall) => {
    calls.push(one);
    most = Math.max(most, ++running);
    try {
      await Promise.resolve();
      return await answer(one, cluster);
    } finally {
      running -= 1;
    }
  };
  const pods = new KubernetesPods({ api: { call }, pageSize: 2 });
  return { cluster, calls, pods, most: () => most };
}
const ask = (call: KubernetesCall, cluster: FakeCluster) => cluster.call(call);

describe("pods of the stand-in", () => {
  podsContract(async () => {
    const { cluster, pods } = aCluster();
    return { pods, add: async (pod) => cluster.pods.add(pod), close: async () => {} };
  });
});

describe("pods", () => {
  it("are listed node by node, their metadata alone, up to the first that counts", async () => {
    const { cluster, calls, pods } = aCluster();
    for (const name of ["a", "b", "c", "d"]) cluster.pods.add({ name, node: "n" });
    expect(await pods.busyNodes(["n"], soon)).toEqual(new Set(["n"]));
    expect(calls).toEqual([
      {
        method: "GET",
        path: "/api/v1/pods",
        query: {
          fieldSelector: "spec.nodeName=n,status.phase!=Succeeded,status.phase!=Failed",
          limit: "2",
        },
        accept: expect.stringContaining("as=PartialObjectMetadataList"),
      },
    ]);
  });

  it("are listed for four nodes at a time, and not at all for none", async () => {
    const { calls, pods, most } = aCluster();
    expect(await pods.busyNodes([], soon)).toEqual(new Set());
    expect(calls).toEqual([]);
    expect(await pods.busyNodes(["a", "b", "c", "d", "e", "f"], soon)).toEqual(new Set());
    expect([calls.length, most()]).toEqual([6, 4]);
  });

  it("cannot be reported without the right, which is said with its remedy", async () => {
    const { cluster, calls, pods } = aCluster();
    expect(await pods.limits(soon)).toEqual([]);
    expect(calls[0]?.query).toEqual({ limit: "1" });
    cluster.pods.isRefused = true;
    const unavailable = expect.stringMatching(/may not list pods.*manifest for letGo=empty/);
    expect(await pods.busyNodes(["a", "b"], soon)).toEqual({ unavailable, isMissingRight: true });
    expect(await pods.limits(soon)).toEqual([unavailable]);
  });

  const item = (metadata: unknown) => ({ items: [{ metadata }], metadata: {} });
  it.each([
    ["no list", () => ({})],
    ["a pod without metadata", () => ({ items: [{}], metadata: {} })],
    ["owners that are no list", () => item({ ownerReferences: "none" })],
    ["annotations that are no map", () => item({ annotations: 1 })],
    ["no answer in time", () => Promise.reject(new OutOfTimeError("late"))],
    [
      "a list that has expired",
      ({ query }: KubernetesCall, cluster: FakeCluster) => {
        const owner = { apiVersion: "apps/v1", kind: "DaemonSet" };
        for (const name of ["a", "b", "c"]) cluster.pods.add({ name, node: "n", owner });
        if (query?.continue) cluster.forgetThePast();
        return cluster.call({ method: "GET", path: "/api/v1/pods", query: query ?? {} });
      },
    ],
  ])("are no answer where the cluster gives %s", async (_, answer) => {
    const { pods } = aCluster(answer);
    await expect(pods.busyNodes(["n"], soon)).rejects.toThrow();
  });
});
