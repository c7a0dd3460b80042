import type { RequestListener } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { messageOf } from "../../lambda/core/errors.ts";
import { serveHttp } from "../../local/http-server.ts";
import { streamOf } from "../../local/run/watch-stream.ts";
import { sendEndlessly } from "../fuzz/faulty-answers.ts";

describe("a stream", () => {
  const watched = '{"type":"ADDED","object":1}';
  const error = (object: unknown) => `${JSON.stringify({ type: "ERROR", object })}\n`;
  it.each([
    ["events and blank lines", `${watched}\n\n${watched}\n`, 200, "2 events, the last of 1"],
    ["a line without its end", `${watched}\n{"type":`, 200, "1 events, the last of 1"],
    ["a letter in two pieces", '{"type":"ADDED","object":"ü"}\n', 200, "1 events, the last of ü"],
    ["an error", error({ code: 410, message: "too old" }), 200, "WATCH was answered with 410: too old"],
    [
      "an error of another form",
      error({ code: "x", message: 7 }),
      200,
      "WATCH was answered with 500: no reason was given",
    ],
    ["an error that is none", error(1), 200, "WATCH was answered with 500: no reason was given"],
    ["no JSON", "<html>\n", 200, "a line of the watch is no event"],
    ["no object", "7\n", 200, "a line of the watch is no event"],
    ["an event without a type", '{"type":7}\n', 200, "a line of the watch is no event"],
    [
      "a refusal that shows our login",
      '{"message":"not you, t0ken"}',
      403,
      "WATCH /api/v1/nodes was answered with 403: not you, (our login)",
    ],
    ["a redirect", "moved", 302, "WATCH /api/v1/nodes was answered with 302: moved"],
  ])("is read, or says what is wrong with it: %s", async (_, text, status, expected) => {
    const asked: unknown[] = [];
    const read = await readFrom(({ method, headers }, response) => {
      asked.push([method, headers.accept]);
      const bytes = Buffer.from(text);
      response
        .writeHead(status, { location: "/elsewhere" })
        .write(bytes.subarray(0, -4), () => setTimeout(() => response.end(bytes.subarray(-4)), 5));
    });
    expect(read).toContain(expected);
    expect(asked).toEqual([["GET", "application/json"]]);
  });

  it("is read no further where a line has no end", async () => {
    expect(await readFrom((_, response) => sendEndlessly(response))).toBe("a line of the watch has no end");
  });

  /** Reads the stream of a server that answers so; returns what it had, or why it ended. */
  async function readFrom(answer: RequestListener): Promise<string> {
    const server = await serveHttp(answer);
    onTestFinished(() => server.stop());
    const access = { server: server.url, tls: {}, headers: { authorization: "Bearer t0ken" } };
    const login = { access: async () => access, refresh: () => {} };
    const [query, { signal }] = [new URLSearchParams(), new AbortController()];
    const stream = streamOf({ login, path: "/api/v1/nodes", query, signal, onOpen: () => {} });
    const objects: unknown[] = [];
    try {
      for await (const { object } of stream) objects.push(object);
    } catch (error) {
      return messageOf(error);
    }
    return `${objects.length} events, the last of ${objects.at(-1)}`;
  }
});
