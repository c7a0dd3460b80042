import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from "node:http";
import { Agent, request } from "node:https";
import { type RequestContext, ResponseContext } from "@kubernetes/client-node/dist/gen/http/http.js";
import type { Duration } from "../core/duration.ts";
import type { ClusterAccess } from "./cluster-login.ts";
import { limitedText } from "./limited-text.ts";

/** In flight at once; more are a little faster among a thousand nodes, and cost a small function its time to connect. */
export const inFlight = 16;

/** Does something after a time, unless what it returns is called before. */
export type Timer = (end: () => void, duration: Duration) => () => void;

// A signal that times out does the same, for more of the processor's time.
const wallTimer: Timer = (end, duration) => {
  const timer = setTimeout(end, duration);
  return () => clearTimeout(timer);
};

/**
 * Carries client-node's requests over one pool of connections that stay open.
 * The client's own carrier opens a connection a call, which costs a TLS handshake each time.
 */
export class KubernetesTransport {
  readonly #agent: Agent;
  readonly #plain: PlainAgent;

  constructor(tls: ClusterAccess["tls"]) {
    const pool = { keepAlive: true, maxSockets: inFlight };
    this.#agent = new Agent({ ...pool, ...tls });
    this.#plain = new PlainAgent(pool);
  }

  /** The whole answer has to come within the time that it may take. */
  async send(context: RequestContext, atMost: Duration, timer = wallTimer): Promise<ResponseContext> {
    const answer = await this.#ask(context, atMost, timer);
    const { location = "", "retry-after": retryAfter = "" } = answer.headers;
    const body = {
      text: () => limitedText(answer),
      binary: () => passOver(answer),
      stream: () => null,
    };
    return new ResponseContext(answer.statusCode ?? 0, { location, "retry-after": retryAfter }, body);
  }

  /** Closes the connections nobody uses; those in use close when their answer has come. */
  async close(): Promise<void> {
    for (const agent of [this.#agent, this.#plain]) agent.maxFreeSockets = 0;
    this.closeIdle();
  }

  /** Closes the connections nobody uses at the moment. */
  closeIdle(): void {
    // Not the agents' own `destroy`: that cuts off calls which are still on their way.
    for (const { freeSockets } of [this.#agent, this.#plain])
      for (const socket of Object.values(freeSockets).flat()) socket?.destroy();
  }

  #ask(context: RequestContext, atMost: Duration, timer: Timer): Promise<IncomingMessage> {
    const url = context.getUrl();
    const options = { method: context.getHttpMethod(), headers: context.getHeaders() };
    const body = context.getBody();
    return new Promise((resolve, reject) => {
      const call = url.startsWith("http:")
        ? plainRequest(url, { ...options, agent: this.#plain }, resolve)
        : request(url, { ...options, agent: this.#agent }, resolve);
      const callOff = timer(() => call.destroy(new Error(`no answer within ${atMost} ms`)), atMost);
      call.once("close", callOff).once("error", reject);
      call.end(typeof body === "string" ? body : undefined);
    });
  }
}

/** Lets a body go by that nobody wants: the connection is free again when it has ended. */
function passOver(answer: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    answer.once("end", () => resolve(Buffer.alloc(0)));
    answer.once("error", reject).resume();
  });
}
