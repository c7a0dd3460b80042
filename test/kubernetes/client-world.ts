import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { after, seconds } from "../../lambda/core/duration.ts";
import {
  type KubernetesCall,
  KubernetesClient,
  type KubernetesClientOptions,
} from "../../lambda/kubernetes/client.ts";
import type { ClusterAccess } from "../../lambda/kubernetes/transport.ts";
import { CollectedMetrics } from "../../simulator/collected-log.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";
import { until } from "../support/context.ts";

export type Answer = Readonly<{ status?: number; headers?: Record<string, string>; body?: string }>;

export const list: KubernetesCall = { method: "GET", path: "/api/v1/nodes" };
export const in30s = until(after(noon, seconds(30)));

/** A client of a server that answers as a test wants it; no time passes. */
export class ClientWorld {
  /** Answers instead of `answers`. */
  answer: RequestListener | undefined;
  /** Given in turn; the last one stays. */
  answers: Answer[] = [{}];
  token = "first";
  refreshes = 0;
  onRefresh = () => {};
  access: ClusterAccess;
  readonly asked: object[] = [];
  readonly sockets: Socket[] = [];
  readonly pauses: number[] = [];
  readonly timeouts: number[] = [];
  readonly metrics = new CollectedMetrics();
  readonly server: Server;
  readonly client: KubernetesClient;

  private constructor(server: Server) {
    this.server = server;
    server.on("connection", (socket) => this.sockets.push(socket));
    server.on("request", async (request, response) => {
      if (this.answer) return this.answer(request, response);
      const { status = 200, headers, body = "{}" } = await this.#nextAnswer(request);
      response.writeHead(status, headers).end(body);
    });
    const { port } = server.address() as AddressInfo;
    this.access = { server: `http://127.0.0.1:${port}`, tls: {}, headers: {} };
    this.client = this.clientWith();
  }

  static async open(): Promise<ClientWorld> {
    const server = createServer();
    await once(server.listen(0, "127.0.0.1"), "listening");
    return new ClientWorld(server);
  }

  async close(): Promise<void> {
    await this.client.close();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  clientWith(options: Partial<KubernetesClientOptions> = {}): KubernetesClient {
    return new KubernetesClient({
      login: {
        access: async () => {
          if (this.access.headers.authorization !== this.token)
            this.access = { ...this.access, headers: { authorization: this.token } };
          return this.access;
        },
        refresh: () => {
          this.refreshes += 1;
          this.token = "second";
          this.onRefresh();
        },
      },
      clock: new VirtualClock(),
      metrics: this.metrics,
      sleep: async (pause) => void this.pauses.push(pause),
      timer: (_, timeout) => {
        this.timeouts.push(timeout);
        return () => {};
      },
      random: () => 0,
      ...options,
    });
  }

  /** What a call ends in that is answered so. */
  failing(...answers: Answer[]): Promise<unknown> {
    this.answers = answers;
    return this.client.call(list, in30s).catch((error: unknown) => error);
  }

  async #nextAnswer(request: IncomingMessage): Promise<Answer> {
    const { method, url, headers } = request;
    const body = Buffer.concat(await request.toArray()).toString();
    const { accept, "content-type": type, "accept-encoding": encoding } = headers;
    this.asked.push({ method, url, accept, type, body, ...(encoding && { encoding }) });
    return (this.answers.length > 1 ? this.answers.shift() : this.answers[0]) ?? {};
  }
}
