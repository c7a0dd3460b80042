import {
  type PromiseHttpLibrary,
  type RequestContext,
  ResponseContext,
} from "@kubernetes/client-node/dist/gen/http/http.js";
import { Agent } from "undici";
import type { ClusterAccess } from "./cluster-login.ts";

/** In flight at once; more made a real API server no faster. */
export const inFlight = 16;

/**
 * Carries client-node's requests over one pool of connections.
 * The client's own carrier opens a connection a call, and `fetch` takes twice the CPU of a plain request.
 */
export class KubernetesTransport implements PromiseHttpLibrary {
  readonly #agent: Agent;

  constructor(tls: ClusterAccess["tls"]) {
    this.#agent = new Agent({ connections: inFlight, allowH2: false, connect: { ...tls } });
  }

  async send(request: RequestContext): Promise<ResponseContext> {
    const url = new URL(request.getUrl());
    const body = request.getBody();
    const signal = request.getSignal();
    const response = await this.#agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: request.getHttpMethod(),
      headers: request.getHeaders(),
      body: typeof body === "string" ? body : null,
      signal: signal ?? null,
    });
    const headers = Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
    );
    return new ResponseContext(response.statusCode, headers, {
      text: () => response.body.text(),
      binary: async () => Buffer.from(await response.body.arrayBuffer()),
      stream: () => null,
    });
  }

  /** Lets running requests end, then closes the connections. */
  close(): Promise<void> {
    return this.#agent.close();
  }
}
