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

/** What is wrong on the way to a real engine. */
export type Fault =
  /** Nobody is there: the connection breaks. */
  | Readonly<{ kind: "away" }>
  /** Nothing ever comes back. */
  | Readonly<{ kind: "silent" }>
  /** The engine does what it was asked, but its answer gets lost. */
  | Readonly<{ kind: "answer lost" }>
  | Readonly<{ kind: "slow"; ms: number }>
  | Readonly<{ kind: "answer"; status: number; headers?: Readonly<Record<string, string>>; body: string }>;

/** A call that goes by; `target` is the operation where AWS names it in a header. */
export type PassingCall = Readonly<{ n: number; method: string; target: string }>;
type Verdict = Fault | undefined;

/** Stands on loopback in front of a real engine, and lets some calls go wrong. */
export class FaultyProxy {
  readonly url: string;
  /** How many calls came since it was last told what goes wrong. */
  calls = 0;
  /** The engine's own refusals since then. */
  readonly refusals: string[] = [];
  readonly #http: Server;
  readonly #pass: Pass;
  #judge: (call: PassingCall) => Verdict | Promise<Verdict> = () => undefined;

  private constructor(http: Server, port: number, pass: Pass) {
    this.#http = http;
    this.#pass = pass;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async start(target: string, ca?: string): Promise<FaultyProxy> {
    const http = createServer((request, response) => {
      void proxy.#serve(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const address = http.address();
    if (typeof address !== "object" || address === null) throw new Error("the proxy got no port");
    const proxy = new FaultyProxy(http, address.port, passerTo(target, ca));
    return proxy;
  }

  /** From now on each call, counted from one, is judged before it goes by; undefined lets it pass. */
  break(judge: (call: PassingCall) => Verdict | Promise<Verdict>): void {
    this.calls = 0;
    this.refusals.length = 0;
    this.#judge = judge;
  }

  /** From now on nothing goes wrong. */
  mend(): void {
    this.break(() => undefined);
  }

  async stop(): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.calls += 1;
    const { method = "GET", headers } = request;
    const fault = await this.#judge({ n: this.calls, method, target: String(headers["x-amz-target"] ?? "") });
    if (fault?.kind === "away") return void request.socket.destroy();
    if (fault?.kind === "silent") return;
    if (fault?.kind === "answer") return void response.writeHead(fault.status, fault.headers).end(fault.body);
    const body = await buffer(request);
    if (fault?.kind === "slow") await sleep(fault.ms);
    const answer = await this.#pass(request, body);
    if (answer.status >= 400) this.refusals.push(answer.body.toString());
    if (fault?.kind === "answer lost") return void request.socket.destroy();
    response.writeHead(answer.status, answer.headers).end(answer.body);
  }
}

type Answer = Readonly<{ status: number; headers: IncomingMessage["headers"]; body: Buffer }>;
type Pass = (request: IncomingMessage, body: Buffer) => Promise<Answer>;

const passerTo =
  (target: string, ca: string | undefined): Pass =>
  async (request, body) => {
    const { method = "GET", url = "/" } = request;
    const { host, connection: _, ...rest } = request.headers;
    // A signature of AWS covers the host that was asked.
    const headers = ca ? rest : { ...rest, host };
    const open = target.startsWith("https:") ? tlsRequest : plainRequest;
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const onward = open(new URL(url, target), { method, headers, ...(ca && { ca }) }, resolve);
      onward.once("error", reject).end(body);
    });
    const { "transfer-encoding": __, ...kept } = answer.headers;
    return { status: answer.statusCode ?? 502, headers: kept, body: await buffer(answer) };
  };
