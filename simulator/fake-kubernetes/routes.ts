import type { IncomingMessage, ServerResponse } from "node:http";
import { discovery } from "./discovery.ts";
import { applyJsonPatch, applyMergePatch } from "./json-patch.ts";
import { Lists } from "./lists.ts";
import type { NodeStore } from "./node-store.ts";
import { badRequest, type Json, type NodeObject, Refusal } from "./objects.ts";
import { statusOf } from "./status.ts";
import { viewNode, viewOf } from "./views.ts";
import { serveWatch } from "./watches.ts";

const largestBody = 3 * 1024 * 1024;

/** Answers what a client asks about nodes, as the real server would. */
export class Routes {
  readonly lists: Lists;
  readonly #store: NodeStore;
  readonly #now: () => Date;

  constructor(store: NodeStore, now: () => Date) {
    this.#store = store;
    this.#now = now;
    this.lists = new Lists(store);
  }

  async serve(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const method = request.method ?? "GET";
    const known = discovery[url.pathname];
    if (known !== undefined && method === "GET") return answer(response, 200, known);
    const [, name, part] = /^\/api\/v1\/nodes(?:\/([^/]+)(?:\/(status))?)?$/.exec(url.pathname) ?? [];
    if (!/^\/api\/v1\/nodes(\/|$)/.test(url.pathname) || (name === undefined && url.pathname.endsWith("/"))) {
      throw new Refusal(404, "NotFound", "the server could not find the requested resource");
    }
    const view = viewOf(request.headers.accept ?? "");
    if (name === undefined && method === "GET") {
      const isWatch = ["1", "true"].includes(url.searchParams.get("watch") ?? "");
      if (isWatch) return serveWatch(this.#store, url.searchParams, view, this.#now, response);
      return answer(response, 200, this.lists.list(url.searchParams, view, this.#now()));
    }
    const body = await bodyOf(request);
    if (name === undefined) {
      if (method !== "POST") throw notAllowed;
      return answer(response, 201, viewNode(this.#store.create(parse(body)), view, this.#now()));
    }
    if (method === "DELETE") {
      this.#store.remove(name);
      return answer(response, 200, statusOf(200, "", ""));
    }
    const node = this.#act(method, name, part === "status" ? "status" : "node", request, body);
    answer(response, 200, viewNode(node, view, this.#now()));
  }

  #act(
    method: string,
    name: string,
    part: "node" | "status",
    request: IncomingMessage,
    body: string,
  ): NodeObject {
    if (method === "GET") return this.#store.get(name);
    if (method === "PUT") return this.#store.replace(name, parse(body), part);
    if (method !== "PATCH") throw notAllowed;
    const node = this.#store.get(name);
    const type = (request.headers["content-type"] ?? "").split(";")[0]?.trim();
    if (type === "application/json-patch+json") {
      return this.#store.replace(name, applyJsonPatch(node, parse(body)), part);
    }
    // For what our clients change, labels, annotations and flags, a strategic merge is a merge.
    if (type === "application/merge-patch+json" || type === "application/strategic-merge-patch+json") {
      return this.#store.replace(name, applyMergePatch(node, parse(body)), part);
    }
    throw new Refusal(
      415,
      "UnsupportedMediaType",
      `the body of the request was in an unknown format - ${type}`,
    );
  }
}

const notAllowed = new Refusal(
  405,
  "MethodNotAllowed",
  "the server does not allow this method on the requested resource",
);

/** Writes an answer; the client may be gone already. */
export function answer(
  response: ServerResponse,
  status: number,
  body: Json,
  headers: Readonly<Record<string, string>> = {},
): void {
  const isText = typeof body === "string";
  const type = isText ? "text/plain" : "application/json";
  response.writeHead(status, { "content-type": type, ...headers });
  response.end(isText ? body : JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > largestBody) throw new Refusal(413, "RequestEntityTooLarge", "the request is too large");
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

function parse(body: string): Json {
  try {
    return JSON.parse(body) as Json;
  } catch (error) {
    throw badRequest(
      `the body of the request is not JSON: ${error instanceof Error ? error.message : error}`,
    );
  }
}
