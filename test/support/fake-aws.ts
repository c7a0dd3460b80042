import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** A received HTTP request. */
export type AwsRequest = Readonly<{
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
}>;
export type AwsAnswer = Readonly<{ status?: number; headers?: Record<string, string>; body: string }>;

/** The configuration of a client that calls the fake. */
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

/** An AWS endpoint on loopback that answers with `answer` and records its requests; "hang up" closes the connection. */
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
    const result = await answer(request, requests.length);
    if (result === "hang up") return void incoming.socket.destroy();
    response.writeHead(result.status ?? 200, result.headers);
    response.end(result.body);
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

/** A success in AWS's JSON protocols. */
export const json = (body: unknown): AwsAnswer => ({ body: JSON.stringify(body) });

/** A failure in AWS's JSON protocols. */
export const jsonError = (name: string, message: string, status = 400): AwsAnswer => ({
  status,
  headers: { "x-amzn-errortype": name, "content-type": "application/json" },
  body: JSON.stringify({ __type: name, message, Message: message }),
});
