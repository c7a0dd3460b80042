import { randomUUID } from "node:crypto";
import { parseFieldSelector, parseLabelSelector } from "./label-selector.ts";
import { badRequest, type Json, Refusal, type StoredObject, textsOf } from "./objects.ts";
import { type View, viewList } from "./views.ts";

/** The fields by which the server selects. */
const fieldsOf = {
  Node: ["metadata.name"],
  Pod: ["metadata.name", "spec.nodeName", "status.phase"],
} as const;

/** Selects the objects of a list or a watch. */
export function selectionOf(
  query: URLSearchParams,
  kind: StoredObject["kind"],
): (object: StoredObject) => boolean {
  const labels = parseLabelSelector(query.get("labelSelector") ?? "");
  const fields = parseFieldSelector(query.get("fieldSelector") ?? "", ...fieldsOf[kind]);
  return ({ metadata, spec, status }) => {
    const node = { "spec.nodeName": String(spec.nodeName), "status.phase": String(status.phase) };
    return fields({ "metadata.name": metadata.name, ...node }) && labels(textsOf(metadata.labels));
  };
}

type Source = Readonly<{ all: () => readonly StoredObject[]; version: number }>;
type Rest = Readonly<{ objects: readonly StoredObject[]; version: number }>;

const tokenForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The maximum number of open lists; the oldest expires. */
const openLists = 1_000;

/** Lists page by page; every page shows the objects as they were when the first was asked for. */
export class Lists {
  readonly #source: Source;
  readonly #kind: StoredObject["kind"];
  readonly #rests = new Map<string, Rest>();

  constructor(source: Source, kind: StoredObject["kind"]) {
    this.#source = source;
    this.#kind = kind;
  }

  list(query: URLSearchParams, view: View): Json {
    const token = query.get("continue");
    const { objects, version } = token ? this.#resume(token) : this.#begin(query);
    const limit = Number(query.get("limit") ?? 0);
    if (!Number.isInteger(limit) || limit < 0) throw badRequest("limit must be a whole number");
    const page = limit > 0 ? objects.slice(0, limit) : objects;
    const rest = objects.slice(page.length);
    const metadata: Record<string, Json> = { resourceVersion: String(version) };
    if (rest.length > 0) metadata.continue = this.#keep({ objects: rest, version });
    return viewList({ kind: this.#kind, objects: page, metadata }, view);
  }

  /** Expires every open list. */
  forget(): void {
    this.#rests.clear();
  }

  #begin(query: URLSearchParams): Rest {
    const selects = selectionOf(query, this.#kind);
    return { objects: this.#source.all().filter(selects), version: this.#source.version };
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
