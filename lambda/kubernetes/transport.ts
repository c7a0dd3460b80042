import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  Agent as PlainAgent,
  request as plain,
} from "node:http";
import { Agent, type RequestOptions, request as secure } from "node:https";
import { urlToHttpOptions } from "node:url";
import { type Duration, seconds } from "../core/duration.ts";
import type { ClusterAccess } from "./cluster-login.ts";
import { limitedText } from "./limited-text.ts";

/** In flight at once; more are a little faster among a thousand nodes, and cost a small function its time to connect. */
export const inFlight = 16;

const beginsWithin: Duration = seconds(30);

export type HttpRequest = Readonly<{
  method: string;
  /** With its query; the server's own path comes before it. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
}>;
export type HttpResponse = Readonly<{ status: number; headers: IncomingHttpHeaders; body: string }>;

export type SendOptions = Readonly<{
  /** How long the whole response may take. */
  timeout: Duration;
  /** Leaves the body of a success unread. */
  ignoreBody?: boolean | undefined;
  timer?: Timer | undefined;
}>;

/** Calls back after a time, unless the function it returns is called before. */
export type Timer = (end: () => void, duration: Duration) => () => void;

// A signal that times out does the same, for more of the processor's time.
const wallTimer: Timer = (end, duration) => {
  const timer = setTimeout(end, duration);
  return () => clearTimeout(timer);
};

/** HTTP to one API server over a pool of connections that stay open. */
export class KubernetesTransport {
  readonly #agent: Agent | PlainAgent;
  readonly #options: RequestOptions;
  readonly #request: typeof secure;
  readonly #prefix: string;

  constructor({ server, tls }: Pick<ClusterAccess, "server" | "tls">) {
    const url = new URL(server);
    const pool = { keepAlive: true, maxSockets: inFlight };
    const isPlain = url.protocol === "http:";
    this.#agent = isPlain ? new PlainAgent(pool) : new Agent({ ...pool, ...tls });
    this.#request = isPlain ? plain : secure;
    // An IPv6 address stands in brackets in a URL, and without them in these options.
    const { hostname, port } = urlToHttpOptions(url);
    this.#options = { agent: this.#agent as Agent, hostname, port };
    this.#prefix = url.pathname.replace(/\/$/, "");
  }

  send(request: HttpRequest, options: SendOptions): Promise<HttpResponse> {
    const { timeout, ignoreBody, timer = wallTimer } = options;
    return new Promise((resolve, reject) => {
      const call = this.#start(request);
      const cancelTimer = timer(() => {
        reject(new Error(`no answer within ${timeout} ms`));
        call.destroy();
      }, timeout);
      call.once("close", cancelTimer).once("error", reject);
      call.once("response", (response) => {
        const { statusCode: status = 0 } = response;
        const read = ignoreBody && status < 300 ? skip(response) : limitedText(response);
        read.then((text) => resolve({ status, headers: response.headers, body: text }), reject);
      });
      call.end(request.body);
    });
  }

  /** A response without an end; it breaks off when nothing comes for `idle`, or on the signal. */
  stream(
    request: HttpRequest,
    { idle, signal }: Readonly<{ idle: Duration; signal: AbortSignal }>,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const call = this.#start(request, { signal, timeout: beginsWithin });
      let open: ClientRequest | IncomingMessage = call;
      call.once("timeout", () => open.destroy(new Error("the response has stopped")));
      call.once("response", (response) => {
        // The reader of a response is not given the error of its request.
        open = response;
        call.setTimeout(idle);
        resolve(response);
      });
      call.once("error", reject).end(request.body);
    });
  }

  /** Closes the idle connections; those in use close after their response. */
  close(): void {
    this.#agent.maxFreeSockets = 0;
    this.closeIdle();
  }

  /** Closes the connections that are idle now. */
  closeIdle(): void {
    // Not the agent's own `destroy`: that cuts off requests in flight.
    for (const socket of Object.values(this.#agent.freeSockets).flat()) socket?.destroy();
  }

  #start({ method, path, headers }: HttpRequest, more: RequestOptions = {}): ClientRequest {
    return this.#request({ ...this.#options, ...more, method, headers, path: this.#prefix + path });
  }
}

/** The connection is free again only when the body has ended. */
function skip(response: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    response.once("end", () => resolve("")).once("error", reject);
    response.resume();
  });
}
