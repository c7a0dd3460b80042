import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { requestUrl, serveHttp } from "../../local/http-server.ts";

it("reads path and query", () => {
  const { pathname, searchParams } = requestUrl({ url: "/api/v1/nodes?watch=1" });
  expect([pathname, searchParams.get("watch")]).toEqual(["/api/v1/nodes", "1"]);
});

it.each(["//", "///", "http://", "//[", "*"])("takes %j for an address, whatever it is", (url) => {
  expect(requestUrl({ url })).toBeInstanceOf(URL);
});

it.each([
  ["127.0.0.1", "127.0.0.1:8080", 200],
  ["127.0.0.1", "localhost", 200],
  ["127.0.0.1", "evil.example", 403],
  ["127.0.0.1", "127.0.0.1.evil.example:8080", 403],
  ["127.0.0.1", "evil.localhost", 403],
  ["127.0.0.1", "evil::1", 403],
  ["127.0.0.1", "::1.evil.example", 403],
  ["127.0.0.1", "127.1.20.30:80", 200],
  ["localhost", "evil.example", 403],
  ["::1", "[::1]:8080", 200],
  ["::1", "evil.example", 403],
  ["0.0.0.0", "holder.monitoring.svc:9100", 200],
])("which listens on %s answers a request to host %s with %i", async (listensOn, host, expected) => {
  const server = await serveHttp((_, response) => response.end("yes"), { host: listensOn });
  try {
    const { port } = new URL(server.url);
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const target = { host: listensOn === "0.0.0.0" ? "127.0.0.1" : listensOn, port, headers: { host } };
      get(target, resolve).once("error", reject);
    });
    expect(answer.statusCode).toBe(expected);
    expect(await text(answer)).toBe(
      expected === 200 ? "yes" : "Open it as http://127.0.0.1 or http://localhost.\n",
    );
  } finally {
    await server.stop();
  }
});
