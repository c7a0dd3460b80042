import { describe, expect, it } from "vitest";
import { after, minutes } from "../../lambda/core/duration.ts";
import { TryAgainError } from "../../lambda/core/errors.ts";
import type { KubernetesCall } from "../../lambda/kubernetes/client.ts";
import { explained, KubernetesError } from "../../lambda/kubernetes/error.ts";
import { KubernetesPods } from "../../lambda/kubernetes/pods.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { until } from "../support/context.ts";
import { answering } from "./answers-in-turn.ts";

const soon = until(after(noon, minutes(1)));
const podsPath = "/api/v1/pods";
const budgetsPath = "/apis/policy/v1/poddisruptionbudgets";
const list = (items: readonly unknown[], next = "") => ({ metadata: { continue: next }, items });
const aPod = (node: string, labels: object = {}, namespace = "shop") => ({
  metadata: {
    namespace,
    labels,
    ownerReferences: [{ kind: "ReplicaSet", apiVersion: "apps/v1", controller: true }],
  },
  spec: { nodeName: node, containers: [{}] },
});
const aBudget = (selector?: object, disruptionsAllowed = 0) => ({
  metadata: { namespace: "shop" },
  spec: selector ? { selector } : {},
  status: { disruptionsAllowed },
});

type Answer = (call: KubernetesCall) => unknown;

/** A cluster that answers with these pods and PodDisruptionBudgets. */
function aCluster(answer: Partial<Record<string, Answer>>, pageSize?: number) {
  const { api, calls } = answering((call) => answer[call.path]?.(call) ?? list([]));
  return { calls, pods: new KubernetesPods({ api, ...(pageSize && { pageSize }) }) };
}

const refuse = (status: number) => () => {
  throw explained(new KubernetesError("GET", status, {}));
};

/** Why the pods with these labels may not be moved, with these budgets. */
async function whyFixed(budgets: readonly unknown[], pod = aPod("a", { app: "web" })) {
  const { pods } = aCluster({ [budgetsPath]: () => list(budgets), [podsPath]: () => list([pod]) });
  const listed = await pods.list(soon);
  return "unavailable" in listed ? listed : listed[0]?.fixed;
}

describe("the pods on nodes", () => {
  it("are listed page by page, without those that have ended", async () => {
    const page: Answer = ({ query }) => (query?.continue ? list([aPod("b")]) : list([aPod("a")], "page-2"));
    const { pods, calls } = aCluster({ [podsPath]: page }, 1);
    expect(await pods.list(soon)).toMatchObject([{ node: "a" }, { node: "b" }]);
    const fieldSelector = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed";
    expect(calls.filter(({ path }) => path === podsPath).map(({ query }) => query)).toEqual([
      { limit: "1", fieldSelector },
      { limit: "1", continue: "page-2", fieldSelector },
    ]);
  });

  it("are read again later where one of them cannot be read", async () => {
    const { pods } = aCluster({ [podsPath]: () => list([{ metadata: {}, spec: { containers: 1 } }]) });
    await expect(pods.list(soon)).rejects.toThrow(TryAgainError);
  });

  it.each([podsPath, budgetsPath])(
    "are unavailable where the holder may not list %s, and its limits say so",
    async (path) => {
      const { pods } = aCluster({ [path]: refuse(403) });
      const unavailable = expect.stringContaining("may not list pods and PodDisruptionBudgets");
      expect(await pods.list(soon)).toEqual({ unavailable, isMissingRight: true });
      expect(await pods.limits(soon)).toEqual([unavailable]);
    },
  );

  it("have no limits where both lists are allowed, of which one object is read", async () => {
    const { pods, calls } = aCluster({});
    expect(await pods.limits(soon)).toEqual([]);
    expect(calls.map(({ path, query }) => [path, query])).toEqual([
      [podsPath, { limit: "1" }],
      [budgetsPath, { limit: "1" }],
    ]);
  });

  it("are an error where the server fails", async () => {
    const { pods } = aCluster({ [podsPath]: refuse(503) });
    await expect(pods.list(soon)).rejects.toThrow(KubernetesError);
    await expect(pods.limits(soon)).rejects.toThrow(KubernetesError);
  });
});

describe("a PodDisruptionBudget without room keeps a pod where it is", () => {
  const oneOf = (...values: readonly string[]) => ({
    matchExpressions: [{ key: "app", operator: "In", values }],
  });

  it.each([
    ["has the labels", { matchLabels: { app: "web" } }],
    ["is any pod", {}],
    ["fits the expressions", oneOf("web", "api")],
    ["is of its namespace, where it names too many to keep in memory", oneOf(..."x".repeat(5_000))],
  ])("that %s", async (_, selector) => {
    expect(await whyFixed([aBudget(selector)])).toBe("a PodDisruptionBudget allows no disruption");
  });

  it.each([
    ["has other labels", aBudget({ matchLabels: { app: "api" } })],
    [
      "has the labels and does not fit the expressions",
      aBudget({ matchLabels: { app: "web" }, ...oneOf("api") }),
    ],
    ["is named by no selector", aBudget()],
    ["has a budget with room", aBudget({}, 1)],
  ])("but not one that %s", async (_, budget) => {
    expect(await whyFixed([budget])).toBeUndefined();
  });

  it("but not one of another namespace", async () => {
    expect(await whyFixed([aBudget({})], aPod("a", {}, "other"))).toBeUndefined();
  });

  it("also where the budget has no status yet", async () => {
    const { metadata, spec } = aBudget({});
    expect(await whyFixed([{ metadata, spec }])).toBe("a PodDisruptionBudget allows no disruption");
  });
});
