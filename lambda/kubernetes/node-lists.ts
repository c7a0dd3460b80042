import { TryAgainError } from "../core/errors.ts";
import { holdLabel, Karpenter, type KarpenterGeneration, neverHold } from "../core/marks/keys.ts";
import type { NodeMeta } from "../core/marks/plan-marks.ts";
import type { CallContext } from "../core/ports.ts";
import { admits, type NodePoolFilter, nodePoolOf, type Scope } from "../core/scope.ts";
import type { KubernetesCaller } from "./client.ts";
import { isStatus } from "./error.ts";
import { asRecord, parseNode } from "./node-objects.ts";
import { TooLongError } from "./transport.ts";

export const metadataListOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
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
    const isOfKarpenter = { key: poolLabel, operator: "Exists" } as const;
    if (pools.except.length === 0) return [isOfKarpenter];
    return [isOfKarpenter, { key: poolLabel, operator: "NotIn", values: pools.except }];
  };
  const registered = (scope: Scope): LabelSelector | undefined => {
    const ofScope = ofPools(scope);
    return ofScope && [...ofScope, { key: registeredLabel, operator: "Exists" }];
  };
  return {
    ofPools,
    registered,
  };
};

const isLabelled = { key: holdLabel, operator: "Exists" } as const;
const isNotNever = { key: holdLabel, operator: "NotIn", values: [neverHold] } as const;

/** Nodes with the mark of any hold, and nodes with a user's value in the label: no selector distinguishes them. */
export const markedByAnyone: LabelSelector = [isLabelled, isNotNever];

/** Lists metadata page by page, each node once, so that memory use does not grow with the cluster. */
export const listNodes = (
  api: KubernetesCaller,
  selector: LabelSelector | undefined,
  context: CallContext,
  pageSize: number,
): AsyncGenerator<NodeMeta, void, undefined> => listMetadata(api, selector, context, pageSize, parseNode);

/** The same, with another parser of the metadata. */
export async function* listMetadata<T extends Readonly<{ name: string }>>(
  api: KubernetesCaller,
  selector: LabelSelector | undefined,
  context: CallContext,
  pageSize: number,
  parse: (node: unknown) => T,
): AsyncGenerator<T, void, undefined> {
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
    for (const node of page.items.map(parse)) {
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

type Page = Readonly<{ items: readonly unknown[]; next: string; resourceVersion: string }>;

/** Which page of a list is requested, as the server reads it. */
export type PageQuery = Readonly<{ limit: string; continue?: string }>;

/** The pages of a list, smaller ones when an answer is too long; an error when the server repeats a page. */
export async function* pagesOf(
  ask: (page: PageQuery) => Promise<unknown>,
  pageSize: number,
): AsyncGenerator<Page, void, undefined> {
  const asked = new Set<string>();
  let from = "";
  let limit = pageSize;
  const askUntilShort = async (): Promise<unknown> => {
    try {
      return await ask({ limit: String(limit), ...(from && { continue: from }) });
    } catch (error) {
      if (!(error instanceof TooLongError) || limit === 1) throw error;
      limit = Math.ceil(limit / 2);
      return askUntilShort();
    }
  };
  do {
    if (asked.has(from)) throw new TryAgainError("the list of nodes repeats a page for ever");
    asked.add(from);
    const page = readPage(await askUntilShort());
    yield page;
    from = page.next;
  } while (from !== "");
}

function readPage(body: unknown): Page {
  const { items, metadata } = asRecord(body, "the list of nodes");
  const listMetadata = asRecord(metadata, "the list's metadata");
  // Another answer must not count as an empty list: the hold would end with its marks still set. Go encodes an empty list as null.
  if (!Array.isArray(items) && items !== null) throw new TryAgainError("the list of nodes has no items");
  const text = (name: "continue" | "resourceVersion"): string => {
    const { [name]: value = "" } = listMetadata;
    if (typeof value === "string") return value;
    throw new TryAgainError(`the list's metadata.${name} must be text`);
  };
  return { items: items ?? [], next: text("continue"), resourceVersion: text("resourceVersion") };
}

/** One condition on a label, in the words of a selector's `matchExpressions`; `NotIn` holds also where the key is absent. */
type Requirement =
  | Readonly<{ key: string; operator: "Exists" }>
  | Readonly<{ key: string; operator: "DoesNotExist" }>
  | Readonly<{ key: string; operator: "In"; values: readonly string[] }>
  | Readonly<{ key: string; operator: "NotIn"; values: readonly string[] }>;

/** All of the conditions hold. */
export type LabelSelector = readonly Requirement[];

/** The selector as a list request carries it. */
export const selectorText = (selector: LabelSelector): string => selector.map(textOf).join(",");

/** Whether a node with these labels would be listed. */
export const matches = (selector: LabelSelector, labels: Readonly<Record<string, string>> = {}): boolean =>
  selector.every((requirement) => {
    const value = labels[requirement.key];
    if (requirement.operator === "Exists") return value !== undefined;
    if (requirement.operator === "DoesNotExist") return value === undefined;
    const isIn = value !== undefined && requirement.values.includes(value);
    return requirement.operator === "In" ? isIn : !isIn;
  });

function textOf(requirement: Requirement): string {
  const { key, operator } = requirement;
  if (operator === "Exists") return key;
  if (operator === "DoesNotExist") return `!${key}`;
  return `${key} ${operator.toLowerCase()} (${requirement.values.join(",")})`;
}
