import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { serveHttp } from "../../local/http-server.ts";

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
  const respond = async (incoming: IncomingMessage, response: ServerResponse) => {
    const { method = "", url = "", headers } = incoming;
    const request = { method, path: url, headers, body: await text(incoming) };
    requests.push(request);
    const result = await answer(request, requests.length);
    if (result === "hang up") return void incoming.socket.destroy();
    response.writeHead(result.status ?? 200, result.headers);
    response.end(result.body);
  };
  const server = await serveHttp((incoming, response) => void respond(incoming, response));
  const credentials = { accessKeyId: "fake", secretAccessKey: "fake" };
  return {
    client: { endpoint: server.url, region: "eu-west-1", credentials },
    requests,
    close: server.stop,
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
