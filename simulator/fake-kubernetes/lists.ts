import { randomUUID } from "node:crypto";
import { parseFieldSelector, parseLabelSelector } from "./label-selector.ts";
import type { NodeStore } from "./node-store.ts";
import { badRequest, type Json, type NodeObject, Refusal, textsOf } from "./objects.ts";
import { type View, viewNodes } from "./views.ts";

/** Selects the nodes of a list or a watch. */
export function selectionOf(query: URLSearchParams): (node: NodeObject) => boolean {
  const labels = parseLabelSelector(query.get("labelSelector") ?? "");
  const name = parseFieldSelector(query.get("fieldSelector") ?? "");
  return ({ metadata }) => name(metadata.name) && labels(textsOf(metadata.labels));
}

type Rest = Readonly<{ nodes: readonly NodeObject[]; version: number }>;

const tokenForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The maximum number of open lists; the oldest expires. */
const openLists = 1_000;

/** Lists page by page; every page shows the nodes as they were when the first was asked for. */
export class Lists {
  readonly #store: NodeStore;
  readonly #rests = new Map<string, Rest>();

  constructor(store: NodeStore) {
    this.#store = store;
  }

  list(query: URLSearchParams, view: View, now: Date): Json {
    const token = query.get("continue");
    const { nodes, version } = token ? this.#resume(token) : this.#begin(query);
    const limit = Number(query.get("limit") ?? 0);
    if (!Number.isInteger(limit) || limit < 0) throw badRequest("limit must be a whole number");
    const page = limit > 0 ? nodes.slice(0, limit) : nodes;
    const rest = nodes.slice(page.length);
    const metadata: Record<string, Json> = { resourceVersion: String(version) };
    if (rest.length > 0) metadata.continue = this.#keep({ nodes: rest, version });
    // The real server counts only lists without a selector.
    if (rest.length > 0 && !query.has("labelSelector")) metadata.remainingItemCount = rest.length;
    return viewNodes(page, metadata, view, now);
  }

  /** Expires every open list. */
  forget(): void {
    this.#rests.clear();
  }

  #begin(query: URLSearchParams): Rest {
    const selects = selectionOf(query);
    return { nodes: this.#store.all().filter(selects), version: this.#store.version };
  }

  #resume(token: string): Rest {
    const rest = this.#rests.get(token);
    if (rest) return rest;
    if (!tokenForm.test(token)) throw badRequest("continue key is not valid");
    const message =
      "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.";
    throw new Refusal(410, "Expired", message);
  }

  #keep(rest: Rest): string {
    const token = randomUUID();
    this.#rests.set(token, rest);
    const oldest = this.#rests.size > openLists ? this.#rests.keys().next().value : undefined;
    if (oldest !== undefined) this.#rests.delete(oldest);
    return token;
  }
}
