import { FakeEvents } from "./events.ts";
import { applyJsonPatch, applyMergePatch } from "./json-patch.ts";
import { Lists } from "./lists.ts";
import { NodeStore } from "./node-store.ts";
import { type Json, type NodeObject, Refusal, statusOf } from "./objects.ts";
import { FakePods } from "./pods.ts";
import { viewOf, viewOne } from "./views.ts";

/** One request, in process or over HTTP; `body` is parsed when it is needed. */
type ApiRequest = Readonly<{
  method: string;
  path: string;
  query: URLSearchParams;
  accept: string;
  contentType: string;
  body: () => Json;
}>;

type ApiAnswer = Readonly<{ status: number; body: Json }>;

const eventsPath = /^\/api\/v1\/namespaces\/([^/]+)\/events$/;
const nodePath = /^\/api\/v1\/nodes(?:\/([^/]+))?$/;

/** Answers requests for nodes and Events, and lists of pods, as the real server does; a refusal is thrown. */
export class NodeApi {
  readonly pods: FakePods;
  readonly events = new FakeEvents();
  /** The answers for other objects, by path. */
  readonly others = new Map<string, Json | ((query: URLSearchParams) => Json)>();
  protected readonly store: NodeStore;
  protected readonly lists: Lists;

  constructor(now = () => new Date()) {
    this.store = new NodeStore(now);
    this.lists = new Lists(this.store, "Node");
    this.pods = new FakePods(now);
  }

  answer(request: ApiRequest): ApiAnswer {
    const { method, path, query, body } = request;
    const known = this.others.get(path) ?? (method === "GET" ? discovery[path] : undefined);
    if (known !== undefined) return { status: 200, body: typeof known === "function" ? known(query) : known };
    const view = viewOf(request.accept);
    if (path === "/api/v1/pods" && method === "GET")
      return { status: 200, body: this.pods.list(query, view) };
    if (path === "/apis/policy/v1/poddisruptionbudgets" && method === "GET")
      return { status: 200, body: { items: [], metadata: {} } };
    const [, namespace] = eventsPath.exec(path) ?? [];
    if (namespace && method === "POST") return { status: 201, body: this.events.create(namespace, body()) };
    if (namespace && method === "GET") return { status: 200, body: this.events.list(query) };
    const [isNodes, name] = nodePath.exec(path) ?? [];
    if (!isNodes) throw new Refusal(404, "NotFound", "the server could not find the requested resource");
    // Without this parameter the server uses the client's name.
    const manager = query.get("fieldManager") ?? "unknown";
    if (name === undefined) {
      if (method === "GET") return { status: 200, body: this.lists.list(query, view) };
      if (method !== "POST") throw notAllowed;
      return { status: 201, body: viewOne(this.store.create(body(), manager), view) };
    }
    if (method === "DELETE") {
      this.store.remove(name);
      return { status: 200, body: statusOf(200, "", "") };
    }
    const node = this.#readOrChange(request, name, manager);
    return { status: 200, body: viewOne(node, view) };
  }

  #readOrChange({ method, contentType, body }: ApiRequest, name: string, manager: string): NodeObject {
    if (method === "GET") return this.store.get(name);
    if (method !== "PATCH") throw notAllowed;
    const node = this.store.get(name);
    const type = contentType.split(";")[0]?.trim();
    if (type === "application/json-patch+json")
      return this.store.replace(name, applyJsonPatch(node, body()), manager);
    // For labels, annotations and flags, which our clients change, a strategic merge is a plain merge.
    if (type === "application/merge-patch+json" || type === "application/strategic-merge-patch+json")
      return this.store.replace(name, applyMergePatch(node, body()), manager);
    const message = `the body of the request was in an unknown format - ${type}`;
    throw new Refusal(415, "UnsupportedMediaType", message);
  }
}

const notAllowed = new Refusal(
  405,
  "MethodNotAllowed",
  "the server does not allow this method on the requested resource",
);

/** The discovery documents that kubectl reads first. */
export const discovery: Readonly<Record<string, Json>> = {
  "/version": { major: "1", minor: "36", gitVersion: "v1.36.1", platform: "node/stand-in" },
  "/healthz": "ok",
  "/livez": "ok",
  "/readyz": "ok",
  "/api": { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] },
  "/apis": { kind: "APIGroupList", apiVersion: "v1", groups: [] },
  "/api/v1": {
    kind: "APIResourceList",
    groupVersion: "v1",
    resources: [
      {
        name: "nodes",
        singularName: "node",
        namespaced: false,
        kind: "Node",
        shortNames: ["no"],
        verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
      },
    ],
  },
  "/openapi/v3": { paths: {} },
};
