import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { after, seconds } from "../../lambda/core/duration.ts";
import { BrokenSetupError, TryAgainError } from "../../lambda/core/errors.ts";
import {
  type KubernetesCall,
  KubernetesClient,
  type KubernetesClientOptions,
  OutOfTimeError,
} from "../../lambda/kubernetes/client.ts";
import type { ClusterAccess } from "../../lambda/kubernetes/transport.ts";
import { CollectedMetrics } from "../../simulator/collected-log.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";
import { sendEndlessly } from "../fuzz/faulty-answers.ts";
import { until, within } from "../support/context.ts";

type Answer = Readonly<{ status?: number; headers?: Record<string, string>; body?: string }>;

const list: KubernetesCall = { method: "GET", path: "/api/v1/nodes" };
const in30s = until(after(noon, seconds(30)));

let server: Server;
/** Answers instead of `answers`. */
let answer: RequestListener | undefined;
/** Given in turn; the last one stays. */
let answers: Answer[];
let asked: object[];
let sockets: Socket[];
let pauses: number[];
let timeouts: number[];
let token: string;
let access: ClusterAccess;
let refreshes: number;
let metrics: CollectedMetrics;
let client: KubernetesClient;

beforeEach(async () => {
  answer = undefined;
  [answers, asked, sockets, pauses, timeouts, refreshes] = [[{}], [], [], [], [], 0];
  token = "first";
  metrics = new CollectedMetrics();
  server = createServer(async (request, response) => {
    if (answer) return answer(request, response);
    const { status = 200, headers, body = "{}" } = await nextAnswer(request);
    response.writeHead(status, headers).end(body);
  });
  server.on("connection", (socket) => sockets.push(socket));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  access = { server: `http://127.0.0.1:${port}`, tls: {}, headers: {} };
  client = clientWith();
});
afterEach(async () => {
  await client.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function nextAnswer(request: IncomingMessage): Promise<Answer> {
  const { method, url, headers } = request;
  const body = Buffer.concat(await request.toArray()).toString();
  const { accept, "content-type": type, "accept-encoding": encoding } = headers;
  asked.push({ method, url, accept, type, body, ...(encoding && { encoding }) });
  return (answers.length > 1 ? answers.shift() : answers[0]) ?? {};
}

/** A client for which no time passes. */
const clientWith = (options: Partial<KubernetesClientOptions> = {}) =>
  new KubernetesClient({
    login: {
      access: async () => {
        if (access.headers.authorization !== token) access = { ...access, headers: { authorization: token } };
        return access;
      },
      refresh: () => {
        refreshes += 1;
        token = "second";
      },
    },
    clock: new VirtualClock(),
    metrics,
    sleep: async (pause) => void pauses.push(pause),
    timer: (_, timeout) => {
      timeouts.push(timeout);
      return () => {};
    },
    random: () => 0,
    ...options,
  });

const failing = (...all: Answer[]) => {
  answers = all;
  return client.call(list, in30s).catch((error: unknown) => error);
};
const message = async (answer: Answer) => String(await failing(answer));

describe("the client", () => {
  it("shares a few connections among many calls, also when the token changes", async () => {
    for (let i = 0; i < 50; i++) await client.call(list, in30s);
    expect(sockets.length).toBeLessThanOrEqual(2);
    token = "another";
    await Promise.all(Array.from({ length: 100 }, () => client.call(list, in30s)));
    expect(sockets.length).toBeLessThanOrEqual(16);
  });

  it("uses a new connection after one broke while the function was frozen, because all of them broke", async () => {
    await Promise.all(Array.from({ length: 16 }, () => client.call(list, in30s)));
    const isOld = new WeakSet(sockets);
    let calls = 0;
    answer = ({ socket }, response) => {
      calls += 1;
      if (isOld.has(socket)) socket.resetAndDestroy();
      else response.end('{"kind":"NodeList"}');
    };
    expect(await client.call(list, in30s)).toEqual({ kind: "NodeList" });
    expect(calls).toBe(2);
  });

  it("uses a new connection when the cluster's CA changes, and closes the old one", async () => {
    await client.call(list, in30s);
    access = { ...access, tls: { ca: "another" } };
    await client.call(list, in30s);
    expect(sockets).toHaveLength(2);
    await expect.poll(() => sockets[0]?.destroyed).toBe(true);
  });

  it("renews the login once for all calls that were refused together", async () => {
    answer = (request, response) => {
      response.statusCode = request.headers.authorization === "second" ? 200 : 401;
      response.end("{}");
    };
    await Promise.all(Array.from({ length: 16 }, () => client.call(list, in30s)));
    expect(refreshes).toBe(1);
  });

  it("passes the error of a failed login on", async () => {
    const broken = new BrokenSetupError("there is no such cluster");
    const login = { access: () => Promise.reject(broken), refresh: () => {} };
    const lost = clientWith({ login });
    await expect(lost.call(list, in30s)).rejects.toBe(broken);
    await lost.close();
  });

  it("waits for a login until the deadline, and no longer", async () => {
    const login = { access: () => new Promise<never>(() => {}), refresh: () => {} };
    const timer = (end: () => void) => {
      setImmediate(end);
      return () => {};
    };
    const stuck = clientWith({ login, timer });
    await expect(stuck.call(list, in30s)).rejects.toThrow(
      new OutOfTimeError("there was no login to the cluster in time for GET /api/v1/nodes"),
    );
    await stuck.close();
  });

  it("sends nothing when the login has left no time", async () => {
    const clock = new VirtualClock();
    const login = {
      access: async () => {
        clock.pass(seconds(30));
        return access;
      },
      refresh: () => {},
    };
    const late = clientWith({ login, clock });
    await expect(late.call(list, in30s)).rejects.toThrow("the deadline passed before GET /api/v1/nodes");
    expect(asked).toEqual([]);
    await late.close();
  });

  it("reports a refusal by a server that is ready at once, however many are refused together", async () => {
    const asked: (string | undefined)[] = [];
    answer = (request, response) => {
      asked.push(request.url);
      response.statusCode = request.url === "/readyz" ? 200 : 403;
      response.end(response.statusCode === 200 ? "ok" : '{"message":"nodes is forbidden"}');
    };
    const refused = await Promise.allSettled(Array.from({ length: 40 }, () => client.call(list, in30s)));
    for (const one of refused)
      expect(one).toMatchObject({
        status: "rejected",
        reason: {
          name: "BrokenSetupError",
          cause: { status: 403, message: expect.stringMatching(/is forbidden$/) },
        },
      });
    expect(asked.toSorted()).toEqual([...Array(40).fill("/api/v1/nodes"), ...Array(40).fill("/readyz")]);
  });

  it.each([403, 500, 503])("waits for a server that is starting: /readyz answers %i", async (status) => {
    let asked = 0;
    answer = (request, response) => {
      const isReadyz = request.url === "/readyz";
      if (isReadyz) asked += 1;
      const isStarting = asked < 3 || isReadyz;
      response.statusCode = isStarting ? (isReadyz ? status : 403) : 200;
      response.end(isStarting ? "{}" : '{"kind":"NodeList"}');
    };
    expect(await client.call(list, in30s)).toEqual({ kind: "NodeList" });
  });

  it("never reveals its login, also when a proxy returns the request", async () => {
    token = "Bearer the-secret-token";
    answer = (request, response) => {
      response.statusCode = 400;
      response.end(JSON.stringify({ message: `odd: ${JSON.stringify(request.headers)}` }));
    };
    await expect(client.call(list, in30s)).rejects.toThrow('odd: {"authorization":"Bearer (our login)"');
  });

  it("stops reading an endless answer, and does not retry it", async () => {
    let calls = 0;
    answer = (_, response) => {
      calls += 1;
      sendEndlessly(response);
    };
    await expect(client.call(list, in30s)).rejects.toMatchObject({
      message: "GET /api/v1/nodes: the body is longer than 67108864 bytes",
      cause: { message: "the body is longer than 67108864 bytes" },
    });
    expect(calls).toBe(1);
  });

  it("ends at its deadline also when an answer arrives very slowly", async () => {
    answer = (_, response) => {
      const drip = setInterval(() => response.write(" "), 10);
      response.on("close", () => clearInterval(drip));
    };
    const login = { access: async () => access, refresh: () => {} };
    const hurried = new KubernetesClient({ login, clock: { now: () => new Date() }, metrics });
    await expect(hurried.call(list, within(800))).rejects.toBeInstanceOf(OutOfTimeError);
    const ignored = hurried.call({ ...list, ignoresAnswer: true }, within(800));
    await expect(ignored).rejects.toBeInstanceOf(OutOfTimeError);
    await hurried.close();
  });

  it.each([false, true])(
    "retries when an answer is incomplete (its body is ignored: %s)",
    async (ignoresAnswer) => {
      let calls = 0;
      answer = (_, response) => {
        calls += 1;
        if (calls > 1) {
          response.end("null");
          return;
        }
        response.writeHead(200, { "content-length": 100 }).write("half");
        setImmediate(() => response.destroy());
      };
      expect(await client.call({ ...list, ignoresAnswer }, in30s)).toBe(ignoresAnswer ? undefined : null);
      expect(calls).toBe(2);
    },
  );

  it("reads the cluster's endpoint again when it cannot connect, but not after an error answer", async () => {
    answer = (_, response) => response.writeHead(500).end("{}");
    await expect(client.call(list, in30s)).rejects.toThrow(/failed 8 times/);
    expect(refreshes).toBe(0);

    answer = (request) => request.socket.destroy();
    await expect(client.call(list, in30s)).rejects.toThrow(/failed 8 times/);
    expect(refreshes).toBe(1);
  });

  it("reports why there is no answer", async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    const failure = client.call(list, in30s);
    await expect(failure).rejects.toBeInstanceOf(TryAgainError);
    await expect(failure).rejects.toThrow(/failed 8 times: .*ECONNREFUSED/);
    server.listen(0, "127.0.0.1");
  });
});

describe("a call of the client", () => {
  it.each<[string, KubernetesCall, object]>([
    [
      "no body has no type, and its answer may be compressed",
      list,
      {
        ...{ method: "GET", url: "/api/v1/nodes", accept: "application/json", type: undefined, body: "" },
        encoding: "gzip",
      },
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
    access = { ...access, server: access.server + prefix };
    await client.call(list, in30s);
    expect(asked).toMatchObject([{ url: "/prefix/api/v1/nodes" }]);
  });

  it("goes to the new address when the cluster's changes", async () => {
    await client.call(list, in30s);
    access = { ...access, server: `${access.server}/new` };
    await client.call(list, in30s);
    expect(asked).toMatchObject([{ url: "/api/v1/nodes" }, { url: "/new/api/v1/nodes" }]);
  });

  it("opens a connection again after the client was closed", async () => {
    await client.call(list, in30s);
    await client.call(list, in30s);
    expect(sockets.length).toBe(1);
    await client.close();
    await client.call(list, in30s);
    expect(sockets.length).toBe(2);
  });

  it("may take ten seconds, and never longer than until the deadline", async () => {
    await client.call(list, in30s);
    await client.call(list, until(after(noon, seconds(5))));
    const [logins, calls] = [0, 1].map((which) => timeouts.filter((_, i) => i % 2 === which));
    expect(calls).toEqual([seconds(10), seconds(5)]);
    expect(logins).toEqual([seconds(30), seconds(5)]);
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
