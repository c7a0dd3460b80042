import { randomUUID, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { ClusterAccess } from "../../lambda/kubernetes/cluster-login.ts";
import { type Fault, type FaultMatch, Faults } from "./faults.ts";
import { applyMergePatch } from "./json-patch.ts";
import { type NodeChange, NodeStore } from "./node-store.ts";
import { type JsonObject, type NodeObject, Refusal } from "./objects.ts";
import { answer, Routes } from "./routes.ts";
import { statusOf } from "./status.ts";

export type StandInOptions = Readonly<{
  /** 0 takes any free port. */
  port?: number;
  now?: () => Date;
  /** NewEvent of every request before it is answered. */
  onRequest?: (
    request: Readonly<{ method: string; path: string; query: URLSearchParams; accept: string }>,
  ) => void;
}>;

export type StandInNode = Readonly<{
  name: string;
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
  providerId?: string;
  joinedAt?: Date;
}>;

/** A Kubernetes API for nodes on loopback: no kubelets and no pods, but the real protocol, for our adapter and kubectl. */
export class ClusterStandIn {
  /** The address of the API, and a token that opens it. */
  readonly server: string;
  readonly token: string;
  readonly #http: Server;
  readonly #store: NodeStore;
  readonly #routes: Routes;
  readonly #faults: Faults;

  private constructor(
    http: Server,
    server: string,
    token: string,
    store: NodeStore,
    routes: Routes,
    faults: Faults,
  ) {
    this.#http = http;
    this.server = server;
    this.token = token;
    this.#store = store;
    this.#routes = routes;
    this.#faults = faults;
  }

  static async start(options: StandInOptions = {}): Promise<ClusterStandIn> {
    const { port = 0, now = () => new Date() } = options;
    const store = new NodeStore(now);
    const routes = new Routes(store, now);
    const faults = new Faults();
    const token = randomUUID();
    const http = createServer((request, response) => {
      void serve(request, response, { routes, faults, token, onRequest: options.onRequest });
    });
    await new Promise<void>((resolve, reject) => {
      http.once("error", reject);
      http.listen(port, "127.0.0.1", resolve);
    });
    const address = http.address();
    const bound = typeof address === "object" && address !== null ? address.port : port;
    return new ClusterStandIn(http, `http://127.0.0.1:${bound}`, token, store, routes, faults);
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#http.close(resolve));
    this.#http.closeAllConnections();
    await closed;
  }

  /** How our own client gets in. */
  access(): ClusterAccess {
    return { server: this.server, tls: {}, headers: { authorization: `Bearer ${this.token}` } };
  }

  /**
   * A kubeconfig's content for kubectl; JSON, which is YAML too. The token is in the address,
   * because kubectl sends none where there is no TLS.
   */
  kubeconfig(): string {
    const name = "stand-in";
    // client-node refuses an address without TLS unless it is told not to verify any.
    const cluster = { server: `${this.server}/${this.token}`, "insecure-skip-tls-verify": true };
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name, cluster }],
      users: [{ name, user: {} }],
      contexts: [{ name, context: { cluster: name, user: name } }],
      "current-context": name,
    };
    return JSON.stringify(config, undefined, 2);
  }

  /** A node joins the cluster, ready. */
  addNode(node: StandInNode): NodeObject {
    const { name, labels = {}, annotations = {}, providerId, joinedAt } = node;
    const born = joinedAt ? { creationTimestamp: joinedAt.toISOString() } : {};
    return this.#store.create({
      metadata: { name, labels: { "kubernetes.io/hostname": name, ...labels }, annotations, ...born },
      spec: providerId === undefined ? {} : { providerID: providerId },
      status: readyStatus,
    });
  }

  removeNode(name: string): void {
    this.#store.remove(name);
  }

  /** Changes a node as a user would; null takes a key away. */
  editNode(name: string, metadata: JsonObject): NodeObject {
    return this.#store.replace(name, applyMergePatch(this.#store.get(name), { metadata }));
  }

  nodes(): readonly NodeObject[] {
    return this.#store.all();
  }

  /** Every value this annotation had on the node, from its beginning; neighbours that are equal are told once. */
  annotationHistory(name: string, key: string): readonly (string | undefined)[] {
    const values = this.#store.annotationsOf(name).map((one) => one[key]?.toString());
    return values.filter((value, i) => i === 0 || value !== values[i - 1]);
  }

  /** Calls back at every change, until the function given back is called. */
  onChange(listener: (change: NodeChange) => void): () => void {
    return this.#store.listen(listener);
  }

  /** The next calls that match go wrong. */
  fail(fault: Fault, match?: FaultMatch, times?: number): void {
    this.#faults.plan(fault, match, times);
  }

  /** Every connection breaks, also those of watches. */
  cutConnections(): void {
    this.#http.closeAllConnections();
  }

  /** No list or watch that began earlier can go on. */
  forgetThePast(): void {
    this.#store.forget();
    this.#routes.lists.forget();
  }
}

type Serving = Readonly<{
  routes: Routes;
  faults: Faults;
  token: string;
  onRequest: StandInOptions["onRequest"] | undefined;
}>;

async function serve(request: IncomingMessage, response: ServerResponse, serving: Serving): Promise<void> {
  const url = new URL(request.url ?? "/", "http://stand-in");
  const isLetIn = letIn(url, request.headers.authorization, serving.token);
  const { method = "GET", headers, socket } = request;
  serving.onRequest?.({ method, path: url.pathname, query: url.searchParams, accept: headers.accept ?? "" });
  const fault = serving.faults.meet(method, url.pathname);
  if (fault?.kind === "hang") return;
  if (fault?.kind === "reset") return void socket.resetAndDestroy();
  if (fault?.kind === "status") {
    const { status, message = "so it was planned" } = fault;
    return answer(response, status, statusOf(status, "", message), fault.headers);
  }
  if (fault?.kind === "lost") {
    response.end = () => {
      socket.resetAndDestroy();
      return response;
    };
  }
  try {
    if (!isLetIn) throw new Refusal(401, "Unauthorized", "Unauthorized");
    await serving.routes.serve(request, response, url);
  } catch (error) {
    const { status, reason, message } = error instanceof Refusal ? error : broken(error);
    answer(response, status, statusOf(status, reason, message));
  }
}

const broken = (error: unknown) => new Refusal(500, "InternalError", String(error));

/** The token opens as a header or as the first part of the path, which it then leaves. */
function letIn(url: URL, authorization: string | undefined, token: string): boolean {
  if (isSame(authorization ?? "", `Bearer ${token}`)) return true;
  const [, first = "", ...rest] = url.pathname.split("/");
  if (!isSame(first, token)) return false;
  url.pathname = `/${rest.join("/")}`;
  return true;
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const readyStatus = {
  conditions: [
    { type: "Ready", status: "True", reason: "KubeletReady", message: "the stand-in is always ready" },
  ],
  nodeInfo: {
    kubeletVersion: "v1.36.1",
    osImage: "stand-in",
    kernelVersion: "none",
    containerRuntimeVersion: "none",
    architecture: "amd64",
    operatingSystem: "linux",
  },
};
