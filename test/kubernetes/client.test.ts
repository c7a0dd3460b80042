import { createServer, type RequestListener, type Server } from "node:http";
import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BrokenSetupError, TryAgainError } from "../../lambda/core/errors.ts";
import { KubernetesClient, OutOfTimeError } from "../../lambda/kubernetes/client.ts";
import type { ClusterAccess } from "../../lambda/kubernetes/transport.ts";
import { CollectedMetrics } from "../../simulator/collected-log.ts";
import { sendEndlessly } from "../fuzz/faulty-answers.ts";
import { within } from "../support/context.ts";

const list = { method: "GET", path: "/api/v1/nodes" } as const;
const soon = () => within(30_000);

describe("the client", () => {
  let server: Server;
  let answer: RequestListener;
  let connections: number;
  let sockets: Socket[];
  let token: string;
  let access: ClusterAccess;
  let refreshes: number;
  let client: KubernetesClient;

  beforeEach(async () => {
    connections = 0;
    sockets = [];
    refreshes = 0;
    token = "first";
    answer = (_, response) => response.end("{}");
    server = createServer((request, response) => answer(request, response));
    server.on("connection", (socket) => {
      connections += 1;
      sockets.push(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address ? address.port : 0;
    const tls = {};
    access = { server: `http://127.0.0.1:${port}`, tls, headers: {} };
    client = new KubernetesClient({
      login: {
        access: async () => {
          if (access.headers.authorization !== token)
            access = { ...access, headers: { authorization: token } };
          return access;
        },
        refresh: () => {
          refreshes += 1;
          token = "second";
        },
      },
      clock: { now: () => new Date() },
      metrics: new CollectedMetrics(),
      sleep: async () => {},
    });
  });
  afterEach(async () => {
    await client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it("shares a few connections among many calls, also when the token changes", async () => {
    for (let i = 0; i < 50; i++) await client.call(list, soon());
    expect(connections).toBeLessThanOrEqual(2);
    token = "another";
    await Promise.all(Array.from({ length: 100 }, () => client.call(list, soon())));
    expect(connections).toBeLessThanOrEqual(16);
  });

  it("uses a new connection after one broke while the function was frozen, because all of them broke", async () => {
    await Promise.all(Array.from({ length: 16 }, () => client.call(list, soon())));
    const isOld = new WeakSet(sockets);
    let asked = 0;
    answer = ({ socket }, response) => {
      asked += 1;
      if (isOld.has(socket)) socket.resetAndDestroy();
      else response.end('{"kind":"NodeList"}');
    };
    expect(await client.call(list, soon())).toEqual({ kind: "NodeList" });
    expect(asked).toBe(2);
  });

  it("uses a new connection when the cluster's CA changes, and closes the old one", async () => {
    await client.call(list, soon());
    access = { ...access, tls: { ca: "another" } };
    await client.call(list, soon());
    expect(connections).toBe(2);
    await expect.poll(() => sockets[0]?.destroyed).toBe(true);
  });

  it("renews the login once for all calls that were refused together", async () => {
    answer = (request, response) => {
      response.statusCode = request.headers.authorization === "second" ? 200 : 401;
      response.end("{}");
    };
    await Promise.all(Array.from({ length: 16 }, () => client.call(list, soon())));
    expect(refreshes).toBe(1);
  });

  it("passes the error of a failed login on", async () => {
    const broken = new BrokenSetupError("there is no such cluster");
    const login = { access: () => Promise.reject(broken), refresh: () => {} };
    const lost = new KubernetesClient({
      login,
      clock: { now: () => new Date() },
      metrics: new CollectedMetrics(),
    });
    await expect(lost.call(list, soon())).rejects.toBe(broken);
    await lost.close();
  });

  it("reports a refusal by a server that is ready at once, however many are refused together", async () => {
    const asked: (string | undefined)[] = [];
    answer = (request, response) => {
      asked.push(request.url);
      response.statusCode = request.url === "/readyz" ? 200 : 403;
      response.end(response.statusCode === 200 ? "ok" : '{"message":"nodes is forbidden"}');
    };
    const refused = await Promise.allSettled(Array.from({ length: 40 }, () => client.call(list, soon())));
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
    expect(await client.call(list, soon())).toEqual({ kind: "NodeList" });
  });

  it("never reveals its login, also when a proxy returns the request", async () => {
    token = "Bearer the-secret-token";
    answer = (request, response) => {
      response.statusCode = 400;
      response.end(JSON.stringify({ message: `odd: ${JSON.stringify(request.headers)}` }));
    };
    await expect(client.call(list, soon())).rejects.toThrow('odd: {"authorization":"Bearer (our login)"');
  });

  it("stops reading an endless answer, and does not retry it", async () => {
    let calls = 0;
    answer = (_, response) => {
      calls += 1;
      sendEndlessly(response);
    };
    // A busy machine may take longer to read so much than one attempt has.
    const patient = new KubernetesClient({
      login: { access: async () => access, refresh: () => {} },
      clock: { now: () => new Date() },
      metrics: new CollectedMetrics(),
      timer: () => () => {},
    });
    await expect(patient.call(list, soon())).rejects.toMatchObject({
      message: "GET /api/v1/nodes: the body is longer than 67108864 bytes",
      cause: { message: "the body is longer than 67108864 bytes" },
    });
    expect(calls).toBe(1);
    await patient.close();
  });

  it("ends at its deadline also when an answer arrives very slowly", async () => {
    answer = (_, response) => {
      const drip = setInterval(() => response.write(" "), 10);
      response.on("close", () => clearInterval(drip));
    };
    const soonOver = within(800);
    await expect(client.call(list, soonOver)).rejects.toBeInstanceOf(OutOfTimeError);
    const ignored = client.call({ ...list, ignoresAnswer: true }, within(800));
    await expect(ignored).rejects.toBeInstanceOf(OutOfTimeError);
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
      expect(await client.call({ ...list, ignoresAnswer }, soon())).toBe(ignoresAnswer ? undefined : null);
      expect(calls).toBe(2);
    },
  );

  it("reads the cluster's endpoint again when it cannot connect, but not after an error answer", async () => {
    answer = (_, response) => response.writeHead(500).end("{}");
    await expect(client.call(list, soon())).rejects.toThrow(/failed 8 times/);
    expect(refreshes).toBe(0);

    answer = (request) => request.socket.destroy();
    await expect(client.call(list, soon())).rejects.toThrow(/failed 8 times/);
    expect(refreshes).toBe(1);
  });

  it("reports why there is no answer", async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    const failure = client.call(list, soon());
    await expect(failure).rejects.toBeInstanceOf(TryAgainError);
    await expect(failure).rejects.toThrow(/failed 8 times: .*ECONNREFUSED/);
    server.listen(0, "127.0.0.1");
  });
});
