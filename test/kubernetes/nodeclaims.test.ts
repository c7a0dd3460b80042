import { describe, expect, it } from "vitest";
import { after, hours, minutes } from "../../lambda/core/duration.ts";
import { TryAgainError } from "../../lambda/core/errors.ts";
import type { KubernetesCall, KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { explained, KubernetesError } from "../../lambda/kubernetes/error.ts";
import { KubernetesNodeClaims } from "../../lambda/kubernetes/nodeclaims.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { until } from "../support/context.ts";

type Answer = (call: KubernetesCall) => unknown;

const soon = until(after(noon, minutes(1)));
const refuse = (status: number) => {
  throw explained(new KubernetesError("GET", status, {}));
};
const anEvent = (name: string, at = noon) => ({
  metadata: { name: `${name}.17`, creationTimestamp: at.toISOString() },
  involvedObject: { kind: "NodeClaim", name },
});
const aClaim = (name: string, status?: object) => ({
  metadata: { name, creationTimestamp: noon.toISOString() },
  ...(status && { status }),
});
const list = (items: readonly unknown[], next = "") => ({ metadata: { continue: next }, items });

/** A cluster with these events and NodeClaims, which answers field selectors as a real one does. */
function aCluster(events: Answer, claims: Answer, karpenter: "v1" | "v0.31" = "v1", only: string[] = []) {
  const calls: KubernetesCall[] = [];
  const api: KubernetesCaller = {
    async call(call) {
      calls.push(call);
      return call.path.endsWith("/events") ? events(call) : claims(call);
    },
  };
  return {
    calls,
    nodeClaims: new KubernetesNodeClaims({ api, karpenter, nodePools: { only, except: [] } }),
  };
}

describe("replacements", () => {
  const providerID = "aws:///eu-central-1a/i-0123456789abcdef0";

  it("are the NodeClaims that Karpenter's events name, with their instance once it is known", async () => {
    const { nodeClaims, calls } = aCluster(
      () =>
        list([
          anEvent("a"),
          anEvent("b"),
          anEvent("a"),
          anEvent("old", after(noon, -hours(1))),
          anEvent("known"),
        ]),
      () =>
        list([aClaim("a", { providerID }), aClaim("b", { providerID: "" }), aClaim("known"), aClaim("c")]),
    );
    expect(await nodeClaims.replacements(after(noon, -minutes(5)), new Set(["known"]), soon)).toEqual([
      { nodeClaim: "a", instance: "i-0123456789abcdef0" },
      { nodeClaim: "b" },
    ]);
    expect(calls.map(({ method, path, query }) => `${method} ${path} ${query?.fieldSelector}`)).toEqual([
      "GET /api/v1/namespaces/default/events reason=DisruptionLaunching,involvedObject.kind=NodeClaim",
      "GET /apis/karpenter.sh/v1/nodeclaims undefined",
    ]);
  });

  it("do not depend on events of others, which may name no object", async () => {
    const nameless = { ...anEvent("a"), involvedObject: { kind: "NodeClaim" } };
    const { nodeClaims, calls } = aCluster(
      () => list([nameless]),
      () => list([]),
    );
    expect(await nodeClaims.replacements(noon, new Set(), soon)).toEqual([]);
    expect(calls).toHaveLength(1);
    expect(await nodeClaims.limits(soon)).toEqual([]);
    for (const { path, query } of calls.filter(({ path }) => path.endsWith("/events"))) {
      expect(query?.fieldSelector, path).toContain("reason=DisruptionLaunching");
    }
  });

  it("cost one small list where there are none, or none that is new", async () => {
    const { nodeClaims, calls } = aCluster(
      () => list([anEvent("known")]),
      () => refuse(500),
    );
    expect(await nodeClaims.replacements(noon, new Set(["known"]), soon)).toEqual([]);
    expect(calls).toHaveLength(1);
  });

  it("cost one list of all NodeClaims, page by page", async () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const { nodeClaims, calls } = aCluster(
      () => list(names.map((name) => anEvent(name))),
      ({ query }) =>
        query?.continue
          ? list([aClaim("f")])
          : list(
              [...names.slice(0, 5), "other"].map((name) => aClaim(name)),
              "page-2",
            ),
    );
    expect(await nodeClaims.replacements(noon, new Set(), soon)).toHaveLength(6);
    expect(calls.slice(1).map(({ query }) => query)).toEqual([
      { limit: "250" },
      { limit: "250", continue: "page-2" },
    ]);
  });

  it.each([
    [
      "the rights are missing",
      () => refuse(403),
      "v1",
      { unavailable: "the holder may not list NodeClaims and events", isMissingRight: true },
    ],
    [
      "Karpenter is older than v0.32",
      () => list([]),
      "v0.31",
      { unavailable: "Karpenter before v0.32 has no NodeClaims" },
    ],
    [
      "the cluster knows no NodeClaims",
      () => refuse(404),
      "v1",
      { unavailable: "the cluster has no NodeClaims" },
    ],
  ] as const)("cannot be reported where %s", async (_, events, karpenter, expected) => {
    const { nodeClaims } = aCluster(events, () => list([]), karpenter);
    const unavailable = `${expected.unavailable}, so every launch counts as demand`;
    expect(await nodeClaims.replacements(noon, new Set(), soon)).toEqual({ ...expected, unavailable });
  });

  it("are no answer where the cluster does not give one", async () => {
    const { nodeClaims } = aCluster(
      () => refuse(500),
      () => list([]),
    );
    await expect(nodeClaims.replacements(noon, new Set(), soon)).rejects.toMatchObject({ status: 500 });
    const { nodeClaims: unserved, calls } = aCluster(
      () => list([]),
      () => refuse(500),
    );
    await expect(unserved.ofScope("cluster", soon)).rejects.toMatchObject({ status: 500 });
    expect(calls).toHaveLength(1);
  });

  it("are no answer where an event is not what it must be", async () => {
    const { nodeClaims } = aCluster(
      () => list([{ metadata: { creationTimestamp: "soon" } }]),
      () => list([]),
    );
    const failure = nodeClaims.replacements(noon, new Set(), soon);
    await expect(failure).rejects.toThrow(TryAgainError);
    await expect(failure).rejects.toThrow(/^\/api\/v1\/namespaces\/default\/events: .*Invalid/s);
  });
});

describe("the NodeClaims of a scope", () => {
  it("say when their nodes joined, drifted and were used; those that are being removed are left out", async () => {
    const lastPodEventTime = after(noon, minutes(7)).toISOString();
    const joinedAt = (minute: number, status = "True") => ({
      conditions: [
        { type: "Initialized", status, lastTransitionTime: after(noon, minutes(90)).toISOString() },
        { type: "Registered", status, lastTransitionTime: after(noon, minutes(minute)).toISOString() },
        { type: "Drifted", status, lastTransitionTime: after(noon, minutes(minute + 1)).toISOString() },
      ],
    });
    const removed = aClaim("d", joinedAt(1));
    const metadata = { ...removed.metadata, deletionTimestamp: noon.toISOString() };
    const at = (minute: number) => after(noon, minutes(minute));
    const { nodeClaims, calls } = aCluster(
      () => list([]),
      () =>
        list([
          aClaim("a", { lastPodEventTime, nodeName: "node-a", ...joinedAt(1) }),
          aClaim("b", { lastPodEventTime: null }),
          aClaim("c", joinedAt(0, "Unknown")),
          { ...removed, metadata },
        ]),
    );
    expect(await nodeClaims.ofScope("nodepool/default", soon)).toEqual([
      {
        ...{ name: "a", node: "node-a", createdAt: noon },
        ...{ joinedAt: at(1), driftedAt: at(2), lastPodEventAt: at(7) },
      },
      { name: "b", createdAt: noon },
      { name: "c", createdAt: noon },
    ]);
    expect(calls[0]?.query).toMatchObject({ labelSelector: "karpenter.sh/nodepool in (default)" });
  });

  it("are none where the NodePool is not this deployment's", async () => {
    const { nodeClaims, calls } = aCluster(
      () => list([]),
      () => refuse(500),
      "v1",
      ["web"],
    );
    expect(await nodeClaims.ofScope("nodepool/default", soon)).toEqual([]);
    expect(calls).toEqual([]);
  });

  it("show no use before Karpenter v1.0, and are read again once v1 is served", async () => {
    let served = "v1beta1";
    const { nodeClaims } = aCluster(
      () => list([]),
      ({ path }) => (path.includes(`/${served}/`) ? list([aClaim("a")]) : refuse(404)),
    );
    const ask = () => nodeClaims.ofScope("cluster", soon);
    const none = { unavailable: expect.stringContaining("before v1.0") };
    expect(await Promise.all([ask(), ask(), ask()])).toMatchObject([none, none, none]);
    served = "v1";
    expect(await nodeClaims.ofScope("cluster", soon)).toHaveLength(1);
  });
});

describe("what cannot be learned", () => {
  it("is nothing where everything may be read, and both where nothing may", async () => {
    const empty = () => list([]);
    const { nodeClaims, calls } = aCluster(empty, empty);
    expect(await nodeClaims.limits(soon)).toEqual([]);
    expect(calls.map(({ query }) => query?.limit)).toEqual(["1", "1"]);
    const refused = () => refuse(403);
    expect(await aCluster(refused, refused).nodeClaims.limits(soon)).toEqual([
      expect.stringContaining("every launch counts as demand"),
      expect.stringContaining("launches alone extend a hold"),
    ]);
  });

  it("is when nodes are used, before Karpenter v1.0", async () => {
    const claims: Answer = ({ path }) => (path.includes("/v1beta1/") ? list([aClaim("a")]) : refuse(404));
    expect(await aCluster(() => list([]), claims).nodeClaims.limits(soon)).toEqual([
      "Karpenter before v1.0 does not record when nodes are used, so launches alone extend a hold",
    ]);
  });

  it("is found by one NodeClaim and one event, however many there are", async () => {
    const { nodeClaims, calls } = aCluster(
      () => list([anEvent("a")], "more"),
      () => list([aClaim("a")], "more"),
    );
    expect(await nodeClaims.limits(soon)).toEqual([]);
    expect(calls).toHaveLength(2);
  });
});
