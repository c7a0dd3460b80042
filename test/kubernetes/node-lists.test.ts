import { describe, expect, it } from "vitest";
import { TryAgainError } from "../../lambda/core/errors.ts";
import { matches } from "../../lambda/core/label-selectors.ts";
import { poolScope, wholeCluster } from "../../lambda/core/scope.ts";
import type { KubernetesCall } from "../../lambda/kubernetes/client.ts";
import { KubernetesError } from "../../lambda/kubernetes/error.ts";
import { pagesOf } from "../../lambda/kubernetes/lists.ts";
import { listNodes, markedByAnyone, selectors, selectorText } from "../../lambda/kubernetes/node-lists.ts";
import { TooLongError } from "../../lambda/kubernetes/transport.ts";
import { within } from "../support/context.ts";
import { answersInTurn } from "./answers-in-turn.ts";

const every = { only: [], except: [] };
const batch = poolScope("batch");
const label = "karpenter-node-holder/hold";

describe("the selector of a list", () => {
  const v1 = selectors("v1", every);
  const of = (only: readonly string[], ...except: readonly string[]) => selectors("v1", { only, except });
  const but = (...except: readonly string[]) => of([], ...except);
  const pool = "karpenter.sh/nodepool";

  it.each([
    ["the whole cluster", () => v1.ofPools(wholeCluster), pool],
    ["one NodePool", () => v1.ofPools(batch), `${pool} in (batch)`],
    [
      "all NodePools but some",
      () => but("gpu", "web").ofPools(wholeCluster),
      `${pool},${pool} notin (gpu,web)`,
    ],
    ["some NodePools", () => of(["batch", "web"], "web").ofPools(wholeCluster), `${pool} in (batch)`],
    ["a NodePool that is excluded", () => but("batch").ofPools(batch), undefined],
    ["a NodePool that is not included", () => of(["web"]).ofPools(batch), undefined],
    ["NodePools that are all excluded", () => of(["web"], "web").ofPools(wholeCluster), undefined],
    ["nodes that have registered", () => v1.registered(wholeCluster), `${pool},karpenter.sh/registered`],
    [
      "nodes of Karpenter v0.31 that have registered",
      () => selectors("v0.31", every).registered(wholeCluster),
      "karpenter.sh/provisioner-name,karpenter.sh/initialized",
    ],
    ["nodes with any mark", () => markedByAnyone, `${label},${label} notin (never)`],
  ])("is, for %s, as the API server reads it", (_, select, text) => {
    const selector = select();
    expect(selector && selectorText(selector)).toBe(text);
  });

  const key = "x";
  const values = ["a", "c"];
  it.each([
    [{ key, operator: "Exists" }, ["a", "b"]],
    [{ key, operator: "DoesNotExist" }, ["none"]],
    [{ key, operator: "In", values }, ["a"]],
    [{ key, operator: "NotIn", values }, ["b", "none"]],
  ] as const)("matches a node as the API server does: %j", (requirement, expected) => {
    const nodes = Object.entries({ a: { x: "a" }, b: { x: "b" }, none: undefined });
    expect(nodes.flatMap(([name, labels]) => (matches([requirement], labels) ? [name] : []))).toEqual(
      expected,
    );
    expect(matches([requirement, { key: "y", operator: "Exists" }], { x: "a" })).toBe(false);
  });
});

describe("a list", () => {
  const page = (names: readonly string[], next = "") => ({
    items: names.map((name) => ({ metadata: { name, uid: name } })),
    metadata: { continue: next, resourceVersion: "7" },
  });
  const expired = new KubernetesError("GET", 410, {});
  /** Lists with these answers in turn, the last one for ever. */
  const list = (...answers: readonly unknown[]) => listBy(2, ...answers);
  async function listBy(pageSize: number, ...answers: readonly unknown[]) {
    const { api, calls } = answersInTurn(answers);
    const names: string[] = [];
    const error = await (async () => {
      for await (const { name } of listNodes(api, markedByAnyone, within(60_000), pageSize)) names.push(name);
    })().catch((reason: unknown) => reason);
    return { names, calls, error };
  }

  it("is asked for page by page, as metadata alone", async () => {
    const { names, calls } = await list(page(["a", "b"], "more"), page(["c"]));
    expect(names).toEqual(["a", "b", "c"]);
    const query = { labelSelector: selectorText(markedByAnyone), limit: "2" };
    const call = {
      method: "GET",
      path: "/api/v1/nodes",
      accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    };
    expect(calls).toEqual([
      { ...call, query },
      { ...call, query: { ...query, continue: "more" } },
    ]);
  });

  it("asks for smaller pages from the one on whose answer was too long, down to one node", async () => {
    const tooLong = new TooLongError("the body is longer than 16777216 bytes");
    const limits = async (...answers: readonly unknown[]) => {
      const { names, calls, error } = await listBy(5, ...answers);
      return { names, error, asked: calls.map(({ query }) => `${query?.limit} ${query?.continue ?? "-"}`) };
    };
    expect(await limits(page(["a"], "x"), tooLong, page(["b"], "y"), page(["c"]))).toEqual({
      names: ["a", "b", "c"],
      error: undefined,
      asked: ["5 -", "5 x", "3 x", "3 y"],
    });
    const { error, asked } = await limits(tooLong);
    expect([error, asked]).toEqual([tooLong, ["5 -", "3 -", "2 -", "1 -"]]);
  });

  it("starts again up to five times when it has expired", async () => {
    const again = await list(page(["a"], "more"), expired, page(["a", "b"], "last"), page([]));
    expect([again.names, again.error]).toEqual([["a", "b"], undefined]);
    expect(again.calls.map(({ query }) => query?.continue)).toEqual([undefined, "more", undefined, "last"]);

    const answers = Array.from({ length: 6 }, (_, n) => [page(["a"], `page-${n}`), expired]).flat();
    const { error: failure, calls } = await list(...answers);
    expect(failure).toBe(expired);
    expect(calls).toHaveLength(12);
  });

  it("does not start again where its first page has expired, or for another error", async () => {
    expect(await list(expired)).toMatchObject({ error: expired, calls: { length: 1 } });
    const broken = new KubernetesError("GET", 500, {});
    expect(await list(page(["a"], "more"), broken)).toMatchObject({ error: broken, calls: { length: 2 } });
  });

  it.each<[unknown, string]>([
    [page([], "same"), "the list repeats a page for ever"],
    [7, "the list must be an object, not 7"],
    [{ items: [] }, "the list's metadata must be an object, not missing"],
    [{ metadata: {} }, "the list has no items"],
    [{ items: "all", metadata: {} }, "the list has no items"],
    [{ items: [], metadata: { continue: 7 } }, "the list's metadata.continue must be text"],
    [{ items: [], metadata: { resourceVersion: 7 } }, "the list's metadata.resourceVersion must be text"],
  ])("fails for an answer that is no list: %j", async (answer, message) => {
    expect((await list(answer)).error).toEqual(new TryAgainError(message));
  });

  it("may be null where it is empty", async () => {
    const pages = [];
    for await (const one of pagesOf(async () => ({ items: null, metadata: {} }), 2)) pages.push(one);
    expect(pages).toEqual([{ items: [], next: "", resourceVersion: "" }]);
  });

  it("ends only after the page that it had asked for, also where its reader stops", async () => {
    let ended = false;
    const api = {
      call: async ({ query }: KubernetesCall) => {
        if (!query?.continue) return page(["a"], "more");
        await new Promise((resolve) => setImmediate(resolve));
        ended = true;
        throw expired;
      },
    };
    for await (const _ of listNodes(api, markedByAnyone, within(60_000), 2)) break;
    expect(ended).toBe(true);
  });

  it("asks nothing where no node can match", async () => {
    const api = { call: () => Promise.reject(new Error("not expected")) };
    for await (const node of listNodes(api, undefined, within(60_000), 2)) expect(node).toBeUndefined();
  });
});
