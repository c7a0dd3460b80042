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
  | Readonly<{ kind: "away" }>
  | Readonly<{ kind: "slow"; ms: number }>
  | Readonly<{ kind: "answer"; status: number; headers?: Readonly<Record<string, string>>; body: string }>;

/** Stands on loopback in front of a real engine, and lets some calls go wrong. */
export class FaultyProxy {
  readonly url: string;
  /** Asked before every call that goes by; undefined lets it pass. */
  fault: (call: Readonly<{ n: number; method: string }>) => Fault | undefined = () => undefined;
  calls = 0;
  readonly #http: Server;

  private constructor(http: Server, port: number) {
    this.#http = http;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async start(target: string, ca?: string): Promise<FaultyProxy> {
    const pass = passerTo(target, ca);
    const http = createServer((request, response) => {
      void proxy.#serve(request, response, pass).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const address = http.address();
    if (typeof address !== "object" || address === null) throw new Error("the proxy got no port");
    const proxy = new FaultyProxy(http, address.port);
    return proxy;
  }

  /** From now on nothing goes wrong. */
  mend(): void {
    this.fault = () => undefined;
  }

  async stop(): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse, pass: Pass): Promise<void> {
    this.calls += 1;
    const fault = this.fault({ n: this.calls, method: request.method ?? "GET" });
    if (fault?.kind === "away") return void request.socket.destroy();
    if (fault?.kind === "answer") return void response.writeHead(fault.status, fault.headers).end(fault.body);
    const body = await buffer(request);
    if (fault?.kind === "slow") await sleep(fault.ms);
    await pass(request, body, response);
  }
}

type Pass = (request: IncomingMessage, body: Buffer, response: ServerResponse) => Promise<void>;

const passerTo =
  (target: string, ca: string | undefined): Pass =>
  (request, body, response) =>
    new Promise((resolve, reject) => {
      const { method = "GET", url = "/" } = request;
      const { host, connection, ...headers } = request.headers;
      void connection;
      const open = target.startsWith("https:") ? tlsRequest : plainRequest;
      // DynamoDB's signature covers the host that was asked.
      const kept = ca ? headers : { ...headers, host };
      const onward = open(new URL(url, target), { method, headers: kept, ...(ca && { ca }) }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response).once("finish", resolve);
      });
      onward.once("error", reject).end(body);
    });
