import type { LabelSelector, Requirement } from "../core/label-selectors.ts";
import { holdLabel, Karpenter, type KarpenterGeneration, neverHold } from "../core/marks/keys.ts";
import type { CallContext } from "../core/ports.ts";
import { admits, type NodePoolFilter, nodePoolOf, type Scope } from "../core/scope.ts";
import type { KubernetesCaller } from "./client.ts";
import { isStatus } from "./error.ts";
import { type PageQuery, pagesOf } from "./lists.ts";
import { type NodeLife, parseNodeLife } from "./node-objects.ts";

const metadataListOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
/** A server expires a list after minutes; without a limit, lists that always expire would restart for ever. */
const mostRestarts = 5;

/**
 * Selectors for our lists; undefined where no node can match. A node is not marked before it has registered, because
 * only then it has the annotations of its NodePool's template, and the user's may be among them.
 */
export const selectors = (karpenter: KarpenterGeneration, pools: NodePoolFilter) => {
  const { poolLabel, registeredLabel } = Karpenter[karpenter];
  const ofPools = (scope: Scope): LabelSelector | undefined => {
    const pool = nodePoolOf(scope);
    const named = (pool === undefined ? pools.only : [pool]).filter((name) => admits(pools, name));
    if (named.length > 0) return [{ key: poolLabel, operator: "In", values: named }];
    if (pool !== undefined || pools.only.length > 0) return undefined;
    const isOfKarpenter = { key: poolLabel, operator: "Exists" };
    if (pools.except.length === 0) return [isOfKarpenter];
    return [isOfKarpenter, { key: poolLabel, operator: "NotIn", values: pools.except }];
  };
  const registered = (scope: Scope): LabelSelector | undefined => {
    const ofScope = ofPools(scope);
    return ofScope && [...ofScope, { key: registeredLabel, operator: "Exists" }];
  };
  return { ofPools, registered };
};

/** Nodes with the mark of any hold, and nodes with a user's value in the label: no selector distinguishes them. */
export const markedByAnyone: LabelSelector = [
  { key: holdLabel, operator: "Exists" },
  { key: holdLabel, operator: "NotIn", values: [neverHold] },
];

/** Lists metadata page by page, each node once, so that memory use does not grow with the cluster. */
export async function* listNodes(
  api: KubernetesCaller,
  selector: LabelSelector | undefined,
  context: CallContext,
  pageSize: number,
): AsyncGenerator<NodeLife, void, undefined> {
  if (selector === undefined) return;
  const returned = new Set<string>();
  let restarts = 0;
  const ask = async (page: PageQuery): Promise<unknown> => {
    const query = { labelSelector: selectorText(selector), ...page };
    try {
      return await api.call(
        { method: "GET", path: "/api/v1/nodes", query, accept: metadataListOnly },
        context,
      );
    } catch (error) {
      // The list has expired on the server: list again, and skip nodes that were returned already.
      if (page.continue === undefined || !isStatus(error, 410) || restarts === mostRestarts) throw error;
      restarts += 1;
      return ask({ limit: page.limit });
    }
  };
  for await (const page of readAhead(pagesOf(ask, pageSize))) {
    for (const node of page.items.map(parseNodeLife)) {
      if (returned.has(node.name)) continue;
      returned.add(node.name);
      yield node;
    }
  }
}

/** The same pages; the next one is requested while one is used. */
async function* readAhead<T>(pages: AsyncGenerator<T, void>): AsyncGenerator<T, void, undefined> {
  let next = pages.next();
  try {
    for (;;) {
      const { value, done } = await next;
      if (done) return;
      next = pages.next();
      // An error is thrown when the next page is read; a reader that stops does not need it.
      next.catch(() => {});
      yield value;
    }
  } finally {
    await next.catch(() => {});
  }
}

/** The selector as a list request carries it. */
export const selectorText = (selector: LabelSelector): string => selector.map(textOf).join(",");

function textOf({ key, operator, values = [] }: Requirement): string {
  if (operator === "Exists") return key;
  return `${key} ${operator.toLowerCase()} (${values.join(",")})`;
}
