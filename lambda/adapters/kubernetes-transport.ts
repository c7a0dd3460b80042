import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from "node:http";
import { Agent, request } from "node:https";
import { finished } from "node:stream/promises";
import {
  type PromiseHttpLibrary,
  type RequestContext,
  ResponseContext,
} from "@kubernetes/client-node/dist/gen/http/http.js";
import type { ClusterAccess } from "./cluster-login.ts";
import { limitedText } from "./limited-text.ts";

/** In flight at once; more made a real API server no faster. */
export const inFlight = 16;

/**
 * Carries client-node's requests over one pool of connections that stay open.
 * The client's own carrier opens a connection a call, which costs a TLS handshake each time.
 */
export class KubernetesTransport implements PromiseHttpLibrary {
  readonly #agent: Agent;
  readonly #plain: PlainAgent;

  constructor(tls: ClusterAccess["tls"]) {
    const pool = { keepAlive: true, maxSockets: inFlight };
    this.#agent = new Agent({ ...pool, ...tls });
    this.#plain = new PlainAgent(pool);
  }

  async send(context: RequestContext): Promise<ResponseContext> {
    const answer = await this.#ask(context);
    const headers = Object.fromEntries(
      Object.entries(answer.headers).map(([name, value]) => [name, String(value)]),
    );
    const body = {
      text: () => limitedText(answer),
      binary: () => passOver(answer),
      stream: () => null,
    };
    return new ResponseContext(answer.statusCode ?? 0, headers, body);
  }

  /** Closes the connections nobody uses; those in use close when their answer has come. */
  async close(): Promise<void> {
    for (const agent of [this.#agent, this.#plain]) {
      // Not `destroy`: that cuts off calls which are still on their way.
      agent.maxFreeSockets = 0;
      for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
    }
  }

  #ask(context: RequestContext): Promise<IncomingMessage> {
    const url = context.getUrl();
    const signal = context.getSignal();
    const options = {
      method: context.getHttpMethod(),
      headers: context.getHeaders(),
      ...(signal && { signal }),
    };
    const body = context.getBody();
    return new Promise((resolve, reject) => {
      const call = url.startsWith("http:")
        ? plainRequest(url, { ...options, agent: this.#plain }, resolve)
        : request(url, { ...options, agent: this.#agent }, resolve);
      call.once("error", reject).end(typeof body === "string" ? body : undefined);
    });
  }
}

/** Lets a body go by that nobody wants: the connection is free again when it has ended. */
async function passOver(answer: IncomingMessage): Promise<Buffer> {
  answer.resume();
  await finished(answer);
  return Buffer.alloc(0);
}
