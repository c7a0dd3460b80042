import { randomUUID, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { ClusterAccess } from "../../lambda/kubernetes/transport.ts";
import { type HttpServer, requestUrl, serveHttp } from "../../local/http-server.ts";
import { FakeCluster } from "./fake-cluster.ts";
import { type Fault, type FaultMatch, Faults } from "./faults.ts";
import { badRequest, type Json, Refusal, statusOf } from "./objects.ts";
import { viewOf } from "./views.ts";
import { serveWatch } from "./watches.ts";

export type ServerOptions = Readonly<{
  /** 0 takes any free port. */
  port?: number;
  now?: () => Date;
  /** Called with every request before it is answered. */
  onRequest?: (
    request: Readonly<{ method: string; path: string; query: URLSearchParams; accept: string }>,
  ) => void;
}>;

/** The fake cluster behind HTTP on loopback, with the real protocol, for our client and kubectl. */
export class FakeKubernetesServer extends FakeCluster {
  /** The bearer token of the API. */
  readonly token = randomUUID();
  #http: HttpServer | undefined;
  readonly #faults = new Faults();
  readonly #onRequest: NonNullable<ServerOptions["onRequest"]>;

  private constructor({ now, onRequest = () => {} }: ServerOptions) {
    super(now);
    this.#onRequest = onRequest;
  }

  static async start(options: ServerOptions = {}): Promise<FakeKubernetesServer> {
    const started = new FakeKubernetesServer(options);
    started.#http = await serveHttp((...given) => void started.#serve(...given), { port: options.port });
    return started;
  }

  /** The address of the API. */
  get server(): string {
    return this.#http?.url ?? "";
  }

  async stop(): Promise<void> {
    await this.#http?.stop();
  }

  /** How our own client logs in. */
  access(): ClusterAccess {
    return { server: this.server, tls: {}, headers: { authorization: `Bearer ${this.token}` } };
  }

  /**
   * A kubeconfig's content for kubectl; JSON, which is YAML too. The token is in the address,
   * because kubectl sends none where there is no TLS.
   */
  kubeconfig(): string {
    const name = "fake";
    // client-node refuses an address without TLS unless verification is off.
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

  /** Adds a fault for the next calls that match. */
  fail(fault: Fault, match?: FaultMatch, times?: number): void {
    this.#faults.plan(fault, match, times);
  }

  /** Closes every connection, including watches. */
  cutConnections(): void {
    this.#http?.cutConnections();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", headers, socket } = request;
    const url = requestUrl(request);
    const isLoggedIn = isAllowed(url, headers.authorization, this.token);
    const { pathname: path, searchParams: query } = url;
    const accept = headers.accept ?? "";
    this.#onRequest({ method, path, query, accept });
    const fault = this.#faults.meet(method, path);
    if (fault?.kind === "hang") return;
    if (fault?.kind === "reset") return void socket.resetAndDestroy();
    if (fault?.kind === "status") {
      const { status, message = "planned fault" } = fault;
      return send(response, status, statusOf(status, "", message), fault.headers);
    }
    if (fault?.kind === "lost") {
      response.end = () => {
        socket.resetAndDestroy();
        return response;
      };
    }
    try {
      if (!isLoggedIn) throw new Refusal(401, "Unauthorized", "Unauthorized");
      const isWatch = method === "GET" && ["1", "true"].includes(query.get("watch") ?? "");
      if (isWatch && path === "/api/v1/nodes") return serveWatch(this.store, query, viewOf(accept), response);
      const sent = await text(request);
      const contentType = headers["content-type"] ?? "";
      const { status, body } = this.answer({
        method,
        path,
        query,
        accept,
        contentType,
        body: () => parse(sent),
      });
      send(response, status, body);
    } catch (error) {
      const refusal = error instanceof Refusal ? error : new Refusal(500, "InternalError", String(error));
      send(response, refusal.status, statusOf(refusal.status, refusal.reason, refusal.message));
    }
  }
}

/** Accepts the token as a header or as the first part of the path, from which it is then removed. */
function isAllowed(url: URL, authorization: string | undefined, token: string): boolean {
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

/** Writes an answer; the client may be gone already. */
function send(
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

function parse(body: string): Json {
  try {
    return JSON.parse(body) as Json;
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw badRequest(`the body of the request is not JSON: ${reason}`);
  }
}
