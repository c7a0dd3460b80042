import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { requestUrl } from "../page/request-url.ts";
import type { PrometheusMetrics } from "./prometheus.ts";

export type MetricsServerOptions = Readonly<{
  metrics: Pick<PrometheusMetrics, "text">;
  /** 0 takes any free port. */
  port: number;
  /** Loopback, unless another address is given. */
  host?: string | undefined;
}>;

/** Serves metrics to Prometheus at /metrics, and nothing else. */
export class MetricsServer {
  readonly #server: Server;

  private constructor({ metrics }: MetricsServerOptions) {
    this.#server = createServer((request, response) => answer(request, response, metrics));
  }

  static async start(options: MetricsServerOptions): Promise<MetricsServer> {
    const { port, host = "127.0.0.1" } = options;
    const served = new MetricsServer(options);
    await new Promise<void>((resolve, reject) => {
      served.#server.once("error", reject).listen(port, host, resolve);
    });
    return served;
  }

  get url(): string {
    const address = this.#server.address();
    if (typeof address !== "object" || !address) return "";
    const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
    return `http://${host}:${address.port}/metrics`;
  }

  async stop(): Promise<void> {
    await new Promise((resolve) => {
      this.#server.close(resolve);
      this.#server.closeAllConnections();
    });
  }
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  metrics: MetricsServerOptions["metrics"],
): void {
  if (requestUrl(request).pathname !== "/metrics") response.writeHead(404).end();
  else if (request.method !== "GET") response.writeHead(405, { allow: "GET" }).end();
  else
    response
      .writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" })
      .end(metrics.text());
}
