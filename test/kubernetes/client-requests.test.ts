import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { after, seconds } from "../../lambda/core/duration.ts";
import { BrokenSetupError, TryAgainError } from "../../lambda/core/errors.ts";
import { type KubernetesCall, KubernetesClient, OutOfTimeError } from "../../lambda/kubernetes/client.ts";
import { CollectedMetrics } from "../../simulator/collected-log.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";
import { until } from "../support/context.ts";

type Answer = Readonly<{ status?: number; headers?: Record<string, string>; body?: string }>;

const list: KubernetesCall = { method: "GET", path: "/api/v1/nodes" };
const in30s = until(after(noon, seconds(30)));

describe("a call of the client", { timeout: 3_000 }, () => {
  let server: Server;
  let origin: string;
  let answers: Answer[];
  let asked: object[];
  let sockets: Set<unknown>;
  let pauses: number[];
  let timeouts: number[];
  let refreshes: number;
  let metrics: CollectedMetrics;
  let clock: VirtualClock;
  let client: KubernetesClient;

  async function respond(request: IncomingMessage): Promise<Answer> {
    const { method, url, headers } = request;
    const body = Buffer.concat(await request.toArray()).toString();
    sockets.add(request.socket);
    asked.push({ method, url, accept: headers.accept, type: headers["content-type"], body });
    // The last answer stays.
    return (answers.length > 1 ? answers.shift() : answers[0]) ?? {};
  }

  beforeEach(async () => {
    [answers, asked, pauses, timeouts, refreshes] = [[{}], [], [], [], 0];
    sockets = new Set();
    metrics = new CollectedMetrics();
    clock = new VirtualClock();
    server = createServer(async (request, response) => {
      const { status = 200, headers, body = "{}" } = await respond(request);
      response.writeHead(status, headers).end(body);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    client = clientOf(() => origin);
  });
  afterEach(async () => {
    await client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  function clientOf(address: () => string): KubernetesClient {
    let access = { server: "", tls: {}, headers: {} };
    return new KubernetesClient({
      login: {
        access: async () => {
          if (access.server !== address()) access = { ...access, server: address() };
          return access;
        },
        refresh: () => {
          refreshes += 1;
          access = { ...access };
        },
      },
      clock,
      metrics,
      sleep: async (pause) => void pauses.push(pause),
      timer: (_, timeout) => {
        timeouts.push(timeout);
        return () => {};
      },
      random: () => 0,
    });
  }
  const failing = (...all: Answer[]) => {
    answers = all;
    return client.call(list, in30s).catch((error: unknown) => error);
  };
  const message = async (answer: Answer) => String(await failing(answer));

  it.each<[string, KubernetesCall, object]>([
    [
      "no body has no type",
      list,
      { method: "GET", url: "/api/v1/nodes", accept: "application/json", type: undefined, body: "" },
    ],
    [
      "a body is JSON",
      { method: "PUT", path: "/x", body: { a: 1 } },
      { method: "PUT", url: "/x", accept: "application/json", type: "application/json", body: '{"a":1}' },
    ],
    [
      "a query and media types of its own",
      {
        ...{ method: "PATCH", path: "/x", query: { fieldManager: "x y" }, body: [{ op: "test" }] },
        ...{ accept: "application/a", contentType: "application/b" },
      },
      {
        ...{ method: "PATCH", url: "/x?fieldManager=x+y", body: '[{"op":"test"}]' },
        ...{ accept: "application/a", type: "application/b" },
      },
    ],
  ])("with %s", async (_, call, expected) => {
    await client.call(call, in30s);
    expect(asked).toEqual([expected]);
  });

  it.each(["/prefix", "/prefix/"])("goes below the server's own path %s", async (prefix) => {
    const below = clientOf(() => origin + prefix);
    await below.call(list, in30s);
    await below.close();
    expect(asked).toMatchObject([{ url: "/prefix/api/v1/nodes" }]);
  });

  it("goes to the new address when the cluster's changes", async () => {
    let prefix = "/old";
    const moving = clientOf(() => origin + prefix);
    await moving.call(list, in30s);
    prefix = "/new";
    await moving.call(list, in30s);
    await moving.close();
    expect(asked).toMatchObject([{ url: "/old/api/v1/nodes" }, { url: "/new/api/v1/nodes" }]);
  });

  it("opens a connection again after the client was closed", async () => {
    await client.call(list, in30s);
    await client.call(list, in30s);
    expect(sockets.size).toBe(1);
    await client.close();
    await client.call(list, in30s);
    expect(sockets.size).toBe(2);
  });

  it("may take ten seconds, and never longer than until the deadline", async () => {
    await client.call(list, in30s);
    await client.call(list, until(after(noon, seconds(5))));
    expect(timeouts).toEqual([seconds(10), seconds(5)]);
  });

  it("starts only with enough time left for an answer", async () => {
    await client.call(list, until(after(noon, 300)));
    expect(asked).toHaveLength(1);
    const failure = client.call(list, until(after(noon, 299)));
    await expect(failure).rejects.toThrow(new OutOfTimeError("the deadline passed before GET /api/v1/nodes"));
    expect(asked).toHaveLength(1);
  });

  it("is repeated after a pause, which is longer each time", async () => {
    expect(await failing({ status: 503 }, { status: 500 }, { body: "[]" })).toEqual([]);
    expect(pauses).toEqual([100, 200]);
    expect(metrics.total("ApiThrottled")).toBe(0);
  });

  it("is repeated after the pause that the server asks for and its own", async () => {
    const headers = { "retry-after": "7" };
    await failing({ status: 429, headers }, { status: 503, headers }, {});
    expect(pauses).toEqual([7_100, 7_200]);
    expect(metrics.total("ApiThrottled")).toBe(1);
  });

  it("is not repeated when the pause would end at the deadline", async () => {
    answers = [{ status: 503, headers: { "retry-after": "7" } }];
    const failure = client.call(list, until(after(noon, 7_100)));
    await expect(failure).rejects.toThrow(/too short to try GET .* again: .*503: /);
    await expect(failure).rejects.toMatchObject({ cause: { status: 503 } });
    expect(pauses).toEqual([]);
  });

  it("is repeated as long as the server throttles, and eight times when it fails", async () => {
    expect(await failing(...Array(20).fill({ status: 429 }), { body: "[]" })).toEqual([]);
    asked.length = 0;
    const error = await failing({ status: 500, body: "broken" });
    expect(String(error)).toBe(
      "TryAgainError: GET /api/v1/nodes failed 8 times: GET /api/v1/nodes was answered with 500: broken",
    );
    expect(error).toMatchObject({ cause: { status: 500 } });
    expect(asked).toHaveLength(8);
    expect(refreshes).toBe(0);
  });

  it("is repeated eight times where a server that is not ready refuses it", async () => {
    const error = await failing({ status: 403, body: "forbidden" });
    expect(error).toBeInstanceOf(TryAgainError);
    expect(String(error)).toMatch(/GET \/api\/v1\/nodes was refused \(403\) by an API server that does not/);
    expect(String(error)).toMatch(/just starting, check ClusterRole, binding and the access entry/);
    expect(error).toMatchObject({ cause: { message: expect.stringContaining("forbidden") } });
    expect(asked.filter((one) => Object(one).url === "/api/v1/nodes")).toHaveLength(8);
  });

  it("renews the login once, and fails when that is refused, too", async () => {
    const error = await failing({ status: 401 });
    expect(error).toBeInstanceOf(BrokenSetupError);
    expect([asked.length, refreshes, pauses]).toEqual([2, 1, []]);
  });

  it.each<[Answer, string]>([
    [{ status: 404, body: '{"kind":"Status","message":"node a not found"}' }, "404: node a not found"],
    [{ status: 404, body: "" }, "404: Not Found"],
    [{ status: 400, body: "<html>a proxy</html>" }, "400: <html>a proxy</html>"],
    [
      { status: 302, body: "", headers: { location: "https://x.example.com/?y=z" } },
      "302: go to https://x.example.com",
    ],
    [{ status: 499, body: "" }, "499: "],
    [{ status: 300, body: "" }, "300: Multiple Choices"],
    [{ status: 307, body: "", headers: { location: "/elsewhere" } }, "307: Temporary Redirect"],
    [{ status: 307, body: "moved", headers: { location: "https://x.example.com/y" } }, "307: moved"],
  ])("fails with the server's reason: %j", async (answer, reason) => {
    expect(await message(answer)).toBe(`KubernetesError: GET /api/v1/nodes was answered with ${reason}`);
    expect(asked).toHaveLength(1);
  });

  it("never takes an answer for one that is not complete", async () => {
    expect(await message({ body: '{"items":[' })).toMatch(
      /failed 8 times: the answer is not complete JSON: \{"items":\[$/,
    );
  });
});
