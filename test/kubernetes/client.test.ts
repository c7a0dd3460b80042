import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { seconds } from "../../lambda/core/duration.ts";
import { BrokenSetupError, TryAgainError } from "../../lambda/core/errors.ts";
import { KubernetesClient, OutOfTimeError } from "../../lambda/kubernetes/client.ts";
import { VirtualClock } from "../../simulator/virtual-clock.ts";
import { sendEndlessly } from "../fuzz/faulty-answers.ts";
import { within } from "../support/context.ts";
import { ClientWorld, in30s, list } from "./client-world.ts";

let world: ClientWorld;
beforeEach(async () => {
  world = await ClientWorld.open();
});
afterEach(() => world.close());

describe("the client", () => {
  it("shares a few connections among many calls, also when the token changes", async () => {
    for (let i = 0; i < 50; i++) await world.client.call(list, in30s);
    expect(world.sockets.length).toBeLessThanOrEqual(2);
    world.token = "another";
    await Promise.all(Array.from({ length: 100 }, () => world.client.call(list, in30s)));
    expect(world.sockets.length).toBeLessThanOrEqual(16);
  });

  it("uses a new connection after one broke while the function was frozen, because all of them broke", async () => {
    await Promise.all(Array.from({ length: 16 }, () => world.client.call(list, in30s)));
    const isOld = new WeakSet(world.sockets);
    let calls = 0;
    world.answer = ({ socket }, response) => {
      calls += 1;
      if (isOld.has(socket)) socket.resetAndDestroy();
      else response.end('{"kind":"NodeList"}');
    };
    expect(await world.client.call(list, in30s)).toEqual({ kind: "NodeList" });
    expect(calls).toBe(2);
  });

  it("uses a new connection when the cluster's CA changes, and closes the old one", async () => {
    await world.client.call(list, in30s);
    world.access = { ...world.access, tls: { ca: "another" } };
    await world.client.call(list, in30s);
    expect(world.sockets).toHaveLength(2);
    await expect.poll(() => world.sockets[0]?.destroyed).toBe(true);
  });

  it("renews the login once for all calls that were refused together", async () => {
    world.answer = (request, response) => {
      response.statusCode = request.headers.authorization === "second" ? 200 : 401;
      response.end("{}");
    };
    await Promise.all(Array.from({ length: 16 }, () => world.client.call(list, in30s)));
    expect(world.refreshes).toBe(1);
  });

  it("passes the error of a failed login on", async () => {
    const broken = new BrokenSetupError("there is no such cluster");
    const login = { access: () => Promise.reject(broken), refresh: () => {} };
    const lost = world.clientWith({ login });
    await expect(lost.call(list, in30s)).rejects.toBe(broken);
    await lost.close();
  });

  it("waits for a login until the deadline, and no longer", async () => {
    const login = { access: () => new Promise<never>(() => {}), refresh: () => {} };
    const timer = (end: () => void) => {
      setImmediate(end);
      return () => {};
    };
    const stuck = world.clientWith({ login, timer });
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
        return world.access;
      },
      refresh: () => {},
    };
    const late = world.clientWith({ login, clock });
    await expect(late.call(list, in30s)).rejects.toThrow("the deadline passed before GET /api/v1/nodes");
    expect(world.asked).toEqual([]);
    await late.close();
  });

  it("reports a refusal by a server that is ready at once, however many are refused together", async () => {
    const asked: (string | undefined)[] = [];
    world.answer = (request, response) => {
      asked.push(request.url);
      response.statusCode = request.url === "/readyz" ? 200 : 403;
      response.end(response.statusCode === 200 ? "ok" : '{"message":"nodes is forbidden"}');
    };
    const refused = await Promise.allSettled(
      Array.from({ length: 40 }, () => world.client.call(list, in30s)),
    );
    const cause = { status: 403, message: expect.stringMatching(/is forbidden$/) };
    for (const one of refused)
      expect(one).toMatchObject({ status: "rejected", reason: { name: "BrokenSetupError", cause } });
    expect(asked.toSorted()).toEqual([...Array(40).fill("/api/v1/nodes"), ...Array(40).fill("/readyz")]);
  });

  it.each([403, 500, 503])("waits for a server that is starting: /readyz answers %i", async (status) => {
    let asked = 0;
    world.answer = (request, response) => {
      const isReadyz = request.url === "/readyz";
      if (isReadyz) asked += 1;
      const isStarting = asked < 3 || isReadyz;
      response.statusCode = isStarting ? (isReadyz ? status : 403) : 200;
      response.end(isStarting ? "{}" : '{"kind":"NodeList"}');
    };
    expect(await world.client.call(list, in30s)).toEqual({ kind: "NodeList" });
  });

  it("never reveals its login, also when a proxy returns the request", async () => {
    world.token = "Bearer the-secret-token";
    world.answer = (request, response) => {
      response.statusCode = 400;
      response.end(JSON.stringify({ message: `odd: ${JSON.stringify(request.headers)}` }));
    };
    await expect(world.client.call(list, in30s)).rejects.toThrow(
      'odd: {"authorization":"Bearer (our login)"',
    );
  });

  it("stops reading an endless answer, and does not retry it", async () => {
    let calls = 0;
    world.answer = (_, response) => {
      calls += 1;
      sendEndlessly(response);
    };
    await expect(world.client.call(list, in30s)).rejects.toMatchObject({
      message: "GET /api/v1/nodes: the body is longer than 16777216 bytes",
      cause: { message: "the body is longer than 16777216 bytes" },
    });
    expect(calls).toBe(1);
  });

  it("ends at its deadline also when an answer arrives very slowly", async () => {
    world.answer = (_, response) => {
      const drip = setInterval(() => response.write(" "), 10);
      response.on("close", () => clearInterval(drip));
    };
    const login = { access: async () => world.access, refresh: () => {} };
    const hurried = new KubernetesClient({ login, clock: { now: () => new Date() }, metrics: world.metrics });
    await expect(hurried.call(list, within(800))).rejects.toBeInstanceOf(OutOfTimeError);
    const ignored = hurried.call({ ...list, ignoresAnswer: true }, within(800));
    await expect(ignored).rejects.toBeInstanceOf(OutOfTimeError);
    await hurried.close();
  });

  it.each([
    [false, null],
    [true, undefined],
  ])("retries when an answer is incomplete (its body is ignored: %s)", async (ignoresAnswer, expected) => {
    let calls = 0;
    world.answer = (_, response) => {
      if (++calls > 1) return void response.end("null");
      response.writeHead(200, { "content-length": 100 }).write("half");
      setImmediate(() => response.destroy());
    };
    expect(await world.client.call({ ...list, ignoresAnswer }, in30s)).toBe(expected);
    expect(calls).toBe(2);
  });

  it("reads the cluster's endpoint again when it cannot connect, but not after an error answer", async () => {
    world.answer = (_, response) => response.writeHead(500).end("{}");
    await expect(world.client.call(list, in30s)).rejects.toThrow(/failed 8 times/);
    expect(world.refreshes).toBe(0);

    world.answer = (request) => request.socket.destroy();
    await expect(world.client.call(list, in30s)).rejects.toThrow(/failed 8 times/);
    expect(world.refreshes).toBe(1);
  });

  it("reports why there is no answer", async () => {
    world.server.closeAllConnections();
    await new Promise((resolve) => world.server.close(resolve));
    const failure = world.client.call(list, in30s);
    await expect(failure).rejects.toBeInstanceOf(TryAgainError);
    await expect(failure).rejects.toThrow(/failed 8 times: .*ECONNREFUSED/);
    world.server.listen(0, "127.0.0.1");
  });
});
