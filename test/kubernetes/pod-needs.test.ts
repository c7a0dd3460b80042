import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { matches } from "../../lambda/core/label-selectors.ts";
import { reducePod } from "../../lambda/kubernetes/pod-needs.ts";
import { podSchema } from "../../lambda/kubernetes/pod-objects.ts";

const ownedBy = (kind: string, apiVersion = "apps/v1") => ({
  ownerReferences: [{ kind, apiVersion, controller: true }],
});
const replicated = { namespace: "shop", labels: { app: "web" }, ...ownedBy("ReplicaSet") };

/** A pod as the API server sends it, reduced. */
const reduced = (spec: object = {}, metadata: object = replicated) =>
  reducePod(v.parse(podSchema, { metadata, spec: { nodeName: "a", containers: [], ...spec } }), []);
const requesting = (cpu: string, memory = "0", more: object = {}) => ({
  resources: { requests: { cpu, memory } },
  ...more,
});

describe("a pod requests", () => {
  it("what its containers and sidecars request together", () => {
    const spec = {
      containers: [requesting("100m", "1Mi"), requesting("1", "1Mi"), {}],
      initContainers: [requesting("50m", "1Mi", { restartPolicy: "Always" })],
    };
    expect(reduced(spec).requests).toEqual({ cpu: 1_150, memory: 3 * 2 ** 20 });
  });

  it("what an init container requests where that is more, by each resource", () => {
    const spec = {
      containers: [requesting("100m", "4Mi")],
      initContainers: [requesting("2", "1Mi"), requesting("1", "2Mi")],
    };
    expect(reduced(spec).requests).toEqual({ cpu: 2_000, memory: 4 * 2 ** 20 });
  });

  it("its overhead on top of the larger one", () => {
    const spec = {
      containers: [requesting("100m")],
      initContainers: [requesting("2")],
      overhead: { cpu: "250m" },
    };
    expect(reduced(spec).requests).toEqual({ cpu: 2_250, memory: 0 });
  });

  it("what it names for all of its containers, where that is more", () => {
    const spec = { containers: [requesting("100m", "8Mi")], ...requesting("6", "4Mi") };
    expect(reduced(spec).requests).toEqual({ cpu: 6_000, memory: 8 * 2 ** 20 });
  });

  it("nothing where it names nothing", () => {
    expect(reduced({ containers: [{ resources: null }], initContainers: null }).requests).toEqual({});
  });
});

it.each([
  [
    "tolerations",
    { tolerations: Array.from({ length: 500 }, (_, n) => ({ key: `${n}`, operator: "Exists" })) },
  ],
  ["labels", { nodeSelector: { "x.io/x": "x".repeat(5_000) } }],
  ["resources", { overhead: Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`x.io/${n}`, "1"])) }],
])("a pod is kept in memory without what it needs where it names %s without end", (_, spec) => {
  const kept = reduced({ containers: [requesting("1", "1Mi")], ...spec });
  expect(kept).toMatchObject({
    node: "a",
    requests: { cpu: 1_000, memory: 2 ** 20 },
    needs: { isUnknown: true },
  });
  expect(JSON.stringify(kept).length).toBeLessThan(300);
});

describe("a pod needs no other place", () => {
  it.each([
    ["of a DaemonSet", ownedBy("DaemonSet")],
    ["that is static", { annotations: { "kubernetes.io/config.mirror": "1" }, ...ownedBy("Node", "v1") }],
    ["that is being deleted", { ...replicated, deletionTimestamp: "2026-11-21T12:00:00Z" }],
  ])("%s", (_, metadata) => {
    const annotations = {
      "karpenter.sh/do-not-disrupt": "true",
      ...("annotations" in metadata && metadata.annotations),
    };
    const pod = reduced({ nodeSelector: { disk: "ssd" } }, { ...metadata, annotations });
    const needs = { nodes: [[]], tolerations: [] };
    expect(pod).toEqual({ node: "a", requests: {}, needsNoPlace: true, needs });
  });

  it("only in these cases", () => {
    expect(reduced().needsNoPlace).toBe(false);
  });
});

describe("a pod must stay where it is", () => {
  const asking = (value: string) => ({
    ...replicated,
    annotations: { "karpenter.sh/do-not-disrupt": value },
  });

  it.each([
    ["which asks not to be disrupted", asking("true"), "a pod asks not to be disrupted"],
    ["which asks so for a time", asking("30m"), "a pod asks not to be disrupted"],
    ["of a Job", ownedBy("Job", "batch/v1"), "a Job runs on it"],
    ["without an owner", {}, "a pod has no owner that would start it again"],
  ])("%s", (_, metadata, because) => {
    expect(reduced({}, metadata)).toMatchObject({ fixed: because });
  });

  it.each(["Workflow", "TaskRun", "EphemeralRunner", "Pod"])("of a %s, which runs once", (owner) => {
    const because = "a pod that runs once is on it";
    for (const restartPolicy of ["Never", "OnFailure"])
      expect(reduced({ restartPolicy }, ownedBy(owner))).toMatchObject({ fixed: because, runsOnce: true });
    expect(reduced({ restartPolicy: "Always" }, ownedBy(owner))).not.toHaveProperty("runsOnce");
  });

  const aJob = { kind: "Job", apiVersion: "batch/v1" };
  it.each([
    ["of a ReplicaSet", replicated],
    ["which does not ask", asking("false")],
    [
      "whose controller is not its first owner",
      { ownerReferences: [aJob, ...ownedBy("StatefulSet").ownerReferences] },
    ],
  ])("but not one %s", (_, metadata) => {
    expect(reduced({}, metadata).fixed).toBeUndefined();
  });
});

describe("a pod may be placed", () => {
  const affinity = (...terms: readonly object[]) => ({
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
    },
  });
  const oneOf = (key: string, operator: string, ...values: string[]) => ({
    matchExpressions: [{ key, operator, values }],
  });
  const selecting = (app: string) => ({ labelSelector: { matchLabels: { app } } });
  const spread = (topologyKey: string, whenUnsatisfiable = "DoNotSchedule", maxSkew = 1) => ({
    topologySpreadConstraints: [{ topologyKey, whenUnsatisfiable, maxSkew, ...selecting("web") }],
  });
  const terms = (kind: "podAffinity" | "podAntiAffinity", ...all: readonly object[]) => ({
    affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: all } },
  });
  const near = (kind: "podAffinity" | "podAntiAffinity", topologyKey: string) =>
    terms(kind, { topologyKey, ...selecting("web") });
  const apartFrom = (more: object) => terms("podAntiAffinity", { topologyKey: host, ...more });
  const host = "kubernetes.io/hostname";
  const zone = "topology.kubernetes.io/zone";
  const needsOf = (spec: object) => reduced(spec).needs;

  it("anywhere, where it names no need", () => {
    expect(needsOf({})).toEqual({ nodes: [[]], tolerations: [] });
    expect(needsOf(spread("rack", "ScheduleAnyway"))).toEqual({ nodes: [[]], tolerations: [] });
  });

  const nodes = {
    old: { disk: "hdd", arch: "amd64" },
    fast: { disk: "ssd", arch: "amd64" },
    arm: { disk: "ssd", arch: "arm64" },
    spot: { disk: "ssd", arch: "amd64", spot: "yes" },
  };
  const selector = { nodeSelector: { disk: "ssd" } };
  it.each([
    ["with the labels of its selector", selector, ["fast", "arm", "spot"]],
    ["with one of the values", affinity(oneOf("disk", "In", "hdd", "nvme")), ["old"]],
    [
      "with none of the values, or without the label",
      affinity(oneOf("spot", "NotIn", "yes")),
      ["old", "fast", "arm"],
    ],
    ["with a label of any value", affinity(oneOf("spot", "Exists")), ["spot"]],
    ["without a label", affinity(oneOf("spot", "DoesNotExist")), ["old", "fast", "arm"]],
    [
      "that match one of several terms",
      affinity(oneOf("arch", "In", "arm64"), oneOf("disk", "In", "hdd")),
      ["old", "arm"],
    ],
    [
      "that selector and affinity agree on",
      { ...selector, ...affinity(oneOf("spot", "DoesNotExist")) },
      ["fast", "arm"],
    ],
  ])("on nodes %s", (_, spec, expected) => {
    const { nodes: selectors, isUnknown } = needsOf(spec);
    const found = Object.entries(nodes).filter(([, labels]) => selectors.some((one) => matches(one, labels)));
    expect(found.map(([name]) => name)).toEqual(expected);
    expect(isUnknown).toBeUndefined();
  });

  it("where it tolerates the taints; what a toleration leaves out matches all", () => {
    expect(needsOf({ tolerations: [{ key: "gpu" }, { operator: "Exists" }] }).tolerations).toEqual([
      { key: "gpu", operator: "Equal", value: "", effect: "" },
      { key: "", operator: "Exists", value: "", effect: "" },
    ]);
  });

  it.each([
    ["with a claimed volume", { volumes: [{ persistentVolumeClaim: { claimName: "data" } }] }, zone],
    ["with a volume of its own", { volumes: [{ ephemeral: {} }] }, zone],
    ["that is spread over zones", spread(zone), zone],
    ["that is spread over racks", spread("rack"), "rack"],
    ["that must be apart from others by rack", near("podAntiAffinity", "rack"), "rack"],
    ["that must be in the zone of others", near("podAffinity", zone), zone],
  ])("where it is, by a label, %s", (_, spec, label) => {
    const { within, isUnknown } = needsOf(spec);
    expect([within, isUnknown]).toEqual([[label], undefined]);
  });

  it("in any zone where its volumes move with it", () => {
    expect(needsOf({ volumes: [{ emptyDir: {} }, { configMap: { name: "x" } }] })).not.toHaveProperty(
      "within",
    );
  });

  it("on a node of its own, where it keeps apart from others of its group", () => {
    const ofWeb = needsOf(spread(host)).apart;
    expect(ofWeb).toMatchObject({ group: expect.stringContaining("shop/"), most: 1 });
    const others = reduced(spread(host), { ...replicated, namespace: "other" });
    expect(others.needs.apart?.group).not.toBe(ofWeb?.group);
    expect(needsOf(near("podAntiAffinity", host))).toMatchObject({ apart: { most: 1 } });
    expect(needsOf(near("podAntiAffinity", host))).not.toHaveProperty("isUnknown");
  });

  it("on a node with as many of its group as the spread allows beside an empty one", () => {
    const both = { ...spread(host, "DoNotSchedule", 3), ...near("podAntiAffinity", host) };
    expect(needsOf(spread(host, "DoNotSchedule", 3))).toMatchObject({ apart: { most: 3 } });
    expect(needsOf(both)).toMatchObject({ apart: { most: 1 } });
  });

  it.each([
    ["fields of a node", affinity({ matchFields: [{}] })],
    ["a label to be a large number", affinity(oneOf("cores", "Gt", "8"))],
    ["the node of another pod", near("podAffinity", host)],
    ["a port of the host", { containers: [{ ports: [{ containerPort: 80 }, { hostPort: 80 }] }] }],
    ["a device that is claimed", { resourceClaims: [{ name: "gpu" }] }],
    ["a node without pods of another group", apartFrom(selecting("db"))],
    ["a node without its group in other namespaces", apartFrom({ ...selecting("web"), namespaces: ["a"] })],
    ["one without it in any", apartFrom({ ...selecting("web"), namespaceSelector: {} })],
    [
      "a node without its group and another",
      terms(
        "podAntiAffinity",
        { topologyKey: host, ...selecting("web") },
        { topologyKey: host, labelSelector: { matchExpressions: [{ key: "app", operator: "Exists" }] } },
      ),
    ],
  ])("nobody knows where, if it needs %s", (_, spec) => {
    expect(needsOf(spec).isUnknown).toBe(true);
  });
});
