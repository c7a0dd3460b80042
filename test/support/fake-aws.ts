import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as it came over the wire. */
export type AwsRequest = Readonly<{
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
}>;
export type AwsAnswer = Readonly<{ status?: number; headers?: Record<string, string>; body: string }>;

/** What a client is made of so that it reaches the fake; retries follow each other at once. */
export type FakeClientConfig = Readonly<{
  endpoint: string;
  region: string;
  credentials: Readonly<{ accessKeyId: string; secretAccessKey: string }>;
}>;

export type FakeAws = Readonly<{
  client: FakeClientConfig;
  requests: readonly AwsRequest[];
  close: () => Promise<void>;
}>;

/** An AWS endpoint on loopback that answers as reported and keeps what it was asked; "hang up" breaks the connection. */
export async function fakeAws(
  answer: (request: AwsRequest, count: number) => AwsAnswer | "hang up" | Promise<AwsAnswer>,
): Promise<FakeAws> {
  const requests: AwsRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { method = "", url = "", headers } = incoming;
    const request = { method, path: url, headers, body: Buffer.concat(chunks).toString() };
    requests.push(request);
    const reported = await answer(request, requests.length);
    if (reported === "hang up") return void incoming.socket.destroy();
    response.writeHead(reported.status ?? 200, reported.headers);
    response.end(reported.body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const credentials = { accessKeyId: "fake", secretAccessKey: "fake" };
  return {
    client: { endpoint: `http://127.0.0.1:${port}`, region: "eu-west-1", credentials },
    requests,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A success as the JSON protocols report it. */
export const json = (body: unknown): AwsAnswer => ({ body: JSON.stringify(body) });

/** A failure as the JSON protocols report it. */
export const jsonError = (name: string, message: string, status = 400): AwsAnswer => ({
  status,
  headers: { "x-amzn-errortype": name, "content-type": "application/json" },
  body: JSON.stringify({ __type: name, message, Message: message }),
});
