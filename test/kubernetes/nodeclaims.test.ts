import { describe, expect, it } from "vitest";
import { after, minutes } from "../../lambda/core/duration.ts";
import { TryAgainError } from "../../lambda/core/errors.ts";
import type { KubernetesCall } from "../../lambda/kubernetes/client.ts";
import { explained, KubernetesError } from "../../lambda/kubernetes/error.ts";
import { KubernetesNodeClaims } from "../../lambda/kubernetes/nodeclaims.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { until } from "../support/context.ts";
import { answering } from "./answers-in-turn.ts";

type Answer = (call: KubernetesCall) => unknown;

const soon = until(after(noon, minutes(1)));
const refuse = (status: number) => {
  throw explained(new KubernetesError("GET", status, {}));
};
const labels = { "karpenter.sh/nodepool": "default" };
const aClaim = (name: string, status?: object) => ({
  metadata: { name, creationTimestamp: noon.toISOString(), labels },
  ...(status && { status }),
});
const list = (items: readonly unknown[], next = "") => ({ metadata: { continue: next }, items });

/** A cluster that answers with these NodeClaims. */
function aCluster(claims: Answer, karpenter: "v1" | "v0.31" = "v1", only: string[] = []) {
  const { api, calls } = answering(claims);
  const nodeClaims = new KubernetesNodeClaims({ api, karpenter, nodePools: { only, except: [] } });
  return { calls, nodeClaims };
}

describe("the NodeClaims of a scope", () => {
  it("say since when their nodes are ready, drifted and consolidatable; those that are being removed are left out", async () => {
    const providerID = "aws:///eu-central-1a/i-0123456789abcdef0";
    const at = (minute: number) => after(noon, minutes(minute));
    const conditions = (minute: number, status = "True") => ({
      conditions: [
        { type: "Registered", status, lastTransitionTime: at(0).toISOString() },
        { type: "Initialized", status, lastTransitionTime: at(minute).toISOString() },
        { type: "Drifted", status, lastTransitionTime: at(minute + 1).toISOString() },
        { type: "Consolidatable", status, lastTransitionTime: at(minute + 2).toISOString() },
      ],
    });
    const removed = aClaim("d", conditions(1));
    const metadata = { ...removed.metadata, deletionTimestamp: noon.toISOString() };
    const { nodeClaims, calls } = aCluster(() =>
      list([
        aClaim("a", { providerID, nodeName: "node-a", ...conditions(1) }),
        aClaim("b"),
        aClaim("c", conditions(0, "Unknown")),
        { ...removed, metadata },
      ]),
    );
    const common = { nodePool: "default", createdAt: noon, room: expect.anything() };
    expect(await nodeClaims.list("nodepool/default", soon)).toEqual([
      {
        ...{ name: "a", ...common, node: "node-a", instance: "i-0123456789abcdef0" },
        ...{ openedAt: at(1), driftedAt: at(2), consolidatable: { since: at(3) } },
      },
      { name: "b", ...common, consolidatable: "not yet" },
      { name: "c", ...common, consolidatable: "not yet" },
    ]);
    expect(calls[0]?.query).toMatchObject({ labelSelector: "karpenter.sh/nodepool in (default)" });
  });

  it("name no node and no instance that a record has no room for", async () => {
    const status = { providerID: `aws:///a/${"i".repeat(300)}`, nodeName: "n".repeat(254) };
    const { nodeClaims } = aCluster(() => list([aClaim("a", status)]));
    const [claim] = [await nodeClaims.list("cluster", soon)].flat();
    expect(claim).not.toHaveProperty("instance");
    expect(claim).not.toHaveProperty("node");
  });

  it("say what room their nodes have for pods, and whether pods may be placed there", async () => {
    const { metadata } = aClaim("a");
    const allocatable = { cpu: "3920m", memory: "1Gi", pods: "58" };
    const taints = [
      { key: "gpu", effect: "NoSchedule" },
      { key: "team", value: "a", effect: "NoExecute" },
    ];
    const isTrue = (type: string, status = "True") => ({
      type,
      status,
      lastTransitionTime: noon.toISOString(),
    });
    const withConditions = (...conditions: object[]) => ({
      ...{ metadata, spec: { taints } },
      status: { allocatable, conditions },
    });
    const { nodeClaims } = aCluster(() =>
      list([
        withConditions(isTrue("Initialized")),
        withConditions(isTrue("Registered"), isTrue("Initialized", "Unknown")),
        withConditions(isTrue("Initialized"), isTrue("DisruptionReason")),
      ]),
    );
    const room = {
      allocatable: { cpu: 3_920, memory: 2 ** 30, pods: 58 },
      labels,
      taints: [
        { key: "gpu", value: "", effect: "NoSchedule" },
        { key: "team", value: "a", effect: "NoExecute" },
      ],
    };
    expect(await nodeClaims.list("cluster", soon)).toMatchObject([
      { room: { ...room, isOpen: true } },
      { room: { ...room, isOpen: false } },
      { room: { ...room, isOpen: false } },
    ]);
  });

  it("are listed page by page, each page once", async () => {
    const first = ["a", "b", "c", "d"].map((name) => aClaim(name));
    const { nodeClaims, calls } = aCluster(({ query }) =>
      query?.continue ? list([aClaim("e")]) : list(first, "page-2"),
    );
    expect(await nodeClaims.list("cluster", soon)).toHaveLength(5);
    expect(calls.map(({ query }) => [query?.limit, query?.continue])).toEqual([
      ["250", undefined],
      ["250", "page-2"],
    ]);
  });

  it("are none where the NodePool is not this deployment's", async () => {
    const { nodeClaims, calls } = aCluster(() => refuse(500), "v1", ["web"]);
    expect(await nodeClaims.list("nodepool/default", soon)).toEqual([]);
    expect(calls).toEqual([]);
  });

  it("are read from the newest version that is served, also when Karpenter is upgraded meanwhile", async () => {
    const served = ["v1beta1"];
    const { nodeClaims } = aCluster(({ path }) =>
      served.some((version) => path.includes(`/${version}/`)) ? list([aClaim("a")]) : refuse(404),
    );
    const claim = { name: "a", nodePool: "default", createdAt: noon, room: expect.anything() };
    // Karpenter before v1.0 does not say when a node is consolidatable.
    expect(await nodeClaims.list("cluster", soon)).toEqual([claim]);
    served.push("v1");
    expect(await nodeClaims.list("cluster", soon)).toEqual([{ ...claim, consolidatable: "not yet" }]);
  });

  it.each([
    ["the rights are missing", () => refuse(403), "v1", "the holder may not list NodeClaims"],
    ["Karpenter is older than v0.32", () => list([]), "v0.31", "Karpenter before v0.32 has no NodeClaims"],
    ["the cluster knows no NodeClaims", () => refuse(404), "v1", "the cluster has no NodeClaims"],
  ] as const)("cannot be read where %s, and what that means is said", async (_, claims, karpenter, why) => {
    const { nodeClaims } = aCluster(claims, karpenter);
    const unavailable = expect.stringMatching(new RegExp(`^${why}, so drifted nodes are held, too`));
    const isMissingRight = why.includes("may not") && { isMissingRight: true };
    expect(await nodeClaims.list("cluster", soon)).toEqual({ unavailable, ...isMissingRight });
  });

  it("are no answer where the cluster does not give one", async () => {
    const { nodeClaims, calls } = aCluster(() => refuse(500));
    await expect(nodeClaims.list("cluster", soon)).rejects.toMatchObject({ status: 500 });
    expect(calls).toHaveLength(1);
  });

  it("are no answer where one is not what it must be", async () => {
    const { nodeClaims } = aCluster(() => list([{ metadata: { creationTimestamp: "soon" } }]));
    const failure = nodeClaims.list("cluster", soon);
    await expect(failure).rejects.toThrow(TryAgainError);
    await expect(failure).rejects.toThrow(/^\/apis\/karpenter\.sh\/v1\/nodeclaims: .*Invalid/s);
  });
});
