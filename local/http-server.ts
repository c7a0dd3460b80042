import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Options = Readonly<{
  /** 0, the default, takes any free port. */
  port?: number | undefined;
  /** Loopback, unless another address is given. */
  host?: string | undefined;
}>;

/** A server that listens at this address until it is stopped, with all its connections. */
export type HttpServer = Readonly<{ url: string; cutConnections: () => void; stop: () => Promise<void> }>;

/** On loopback, a request must name this machine: another site's name could resolve to it (DNS rebinding). */
export async function serveHttp(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  { port = 0, host = "127.0.0.1" }: Options = {},
): Promise<HttpServer> {
  const server = createServer((request, response) => {
    if (!isLoopback(bound.address) || isLoopback(request.headers.host)) answer(request, response);
    else refuse(response, 403, "Open it as http://127.0.0.1 or http://localhost.");
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, host, resolve);
  });
  const bound = server.address() as AddressInfo;
  const cutConnections = () => server.closeAllConnections();
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      cutConnections();
    });
  const name = bound.family === "IPv6" ? `[${bound.address}]` : bound.address;
  return { url: `http://${name}:${bound.port}`, cutConnections, stop };
}

const isLoopback = (host = ""): boolean => /^(127(\.\d+){3}|localhost|\[::1\])(:\d+)?$|^::1$/.test(host);

/** Answers with an error and its reason. */
export function refuse(response: ServerResponse, status: number, reason: string): void {
  response.writeHead(status, { "content-type": "text/plain" }).end(`${reason}\n`);
}

const root = "http://localhost/";

/** The requested address; an invalid one, like //, counts as the root. */
export const requestUrl = ({ url = "/" }: Pick<IncomingMessage, "url">): URL =>
  URL.parse(url, root) ?? new URL(root);
