import {
  createServer,
  type IncomingMessage,
  request as plainRequest,
  type Server,
  type ServerResponse,
} from "node:http";
import { request as tlsRequest } from "node:https";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

/** A fault between the holder and a real engine. */
export type Fault =
  /** The connection is closed. */
  | Readonly<{ kind: "unreachable" }>
  /** No answer comes. */
  | Readonly<{ kind: "silent" }>
  /** The engine handles the call, but its answer is lost. */
  | Readonly<{ kind: "answer lost" }>
  | Readonly<{ kind: "slow"; ms: number }>
  | Readonly<{ kind: "answer"; status: number; headers?: Readonly<Record<string, string>>; body: string }>;

/** A call through the proxy; `target` is the operation where AWS names it in a header. */
export type ProxiedCall = Readonly<{ n: number; method: string; target: string }>;
type Verdict = Fault | undefined;

/** A proxy on loopback in front of a real engine that injects faults into calls. */
export class FaultyProxy {
  readonly url: string;
  /** The number of calls since the last `inject` or `reset`. */
  calls = 0;
  /** The engine's own error answers since then. */
  readonly refusals: string[] = [];
  readonly #http: Server;
  readonly #forward: Forward;
  #faultOf: (call: ProxiedCall) => Verdict | Promise<Verdict> = () => undefined;

  private constructor(http: Server, port: number, forward: Forward) {
    this.#http = http;
    this.#forward = forward;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async start(target: string, ca?: string): Promise<FaultyProxy> {
    const http = createServer((request, response) => {
      void proxy.#serve(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const address = http.address();
    if (typeof address !== "object" || address === null) throw new Error("the proxy got no port");
    const proxy = new FaultyProxy(http, address.port, forwardTo(target, ca));
    return proxy;
  }

  /** From now on `faultOf` returns the fault of each call, counted from one; undefined is none. */
  inject(faultOf: (call: ProxiedCall) => Verdict | Promise<Verdict>): void {
    this.calls = 0;
    this.refusals.length = 0;
    this.#faultOf = faultOf;
  }

  /** From now on there are no faults. */
  reset(): void {
    this.inject(() => undefined);
  }

  async stop(): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.calls += 1;
    const { method = "GET", headers } = request;
    const fault = await this.#faultOf({
      n: this.calls,
      method,
      target: String(headers["x-amz-target"] ?? ""),
    });
    if (fault?.kind === "unreachable") return void request.socket.destroy();
    if (fault?.kind === "silent") return;
    if (fault?.kind === "answer") return void response.writeHead(fault.status, fault.headers).end(fault.body);
    const body = await buffer(request);
    if (fault?.kind === "slow") await sleep(fault.ms);
    const answer = await this.#forward(request, body);
    if (answer.status >= 400) this.refusals.push(answer.body.toString());
    if (fault?.kind === "answer lost") return void request.socket.destroy();
    response.writeHead(answer.status, answer.headers).end(answer.body);
  }
}

type Answer = Readonly<{ status: number; headers: IncomingMessage["headers"]; body: Buffer }>;
type Forward = (request: IncomingMessage, body: Buffer) => Promise<Answer>;

const forwardTo =
  (target: string, ca: string | undefined): Forward =>
  async (request, body) => {
    const { method = "GET", url = "/" } = request;
    const { host, connection: _, ...rest } = request.headers;
    // An AWS signature covers the host header.
    const headers = ca ? rest : { ...rest, host };
    const open = target.startsWith("https:") ? tlsRequest : plainRequest;
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const forwarded = open(new URL(url, target), { method, headers, ...(ca && { ca }) }, resolve);
      forwarded.once("error", reject).end(body);
    });
    const { "transfer-encoding": __, ...kept } = answer.headers;
    return { status: answer.statusCode ?? 502, headers: kept, body: await buffer(answer) };
  };
