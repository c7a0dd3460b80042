import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, type TestContext } from "vitest";
import { after, seconds } from "../../lambda/core/duration.ts";
import { BrokenSetupError, TryAgainError } from "../../lambda/core/errors.ts";
import { OutOfTimeError } from "../../lambda/kubernetes/client.ts";
import type { ClusterAccess } from "../../lambda/kubernetes/transport.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { until } from "../support/context.ts";
import { selfSigned } from "../support/self-signed.ts";
import { type Answer, ClientWorld, in30s, list } from "./client-world.ts";

let world: ClientWorld;
beforeEach(async () => {
  world = await ClientWorld.open();
});
afterEach(() => world.close());

const message = async (answer: Answer) => String(await world.failing(answer));

describe("a call of the client", () => {
  it("has JSON where it has a body, a query and media types of its own; without one its answer may be compressed", async () => {
    const accept = "application/json";
    const own = { accept: "application/a", contentType: "application/b" };
    const body = [{ op: "test" }];
    await world.client.call(list, in30s);
    await world.client.call({ method: "PUT", path: "/x", body: { a: 1 } }, in30s);
    await world.client.call({ method: "PATCH", path: "/x", query: { by: "x y" }, body, ...own }, in30s);
    expect(world.asked).toEqual([
      { method: "GET", url: "/api/v1/nodes", accept, type: undefined, body: "", encoding: "gzip" },
      { method: "PUT", url: "/x", accept, type: accept, body: '{"a":1}' },
      {
        method: "PATCH",
        url: "/x?by=x+y",
        accept: own.accept,
        type: own.contentType,
        body: '[{"op":"test"}]',
      },
    ]);
  });

  it.each(["/prefix", "/prefix/"])("goes below the server's own path %s", async (prefix) => {
    world.access = { ...world.access, server: world.access.server + prefix };
    await world.client.call(list, in30s);
    expect(world.asked).toMatchObject([{ url: "/prefix/api/v1/nodes" }]);
  });

  it("goes to the new address when the cluster's changes", async () => {
    await world.client.call(list, in30s);
    world.access = { ...world.access, server: `${world.access.server}/new` };
    await world.client.call(list, in30s);
    expect(world.asked).toMatchObject([{ url: "/api/v1/nodes" }, { url: "/new/api/v1/nodes" }]);
  });

  it("opens a connection again after the client was closed", async () => {
    await world.client.call(list, in30s);
    await world.client.call(list, in30s);
    expect(world.sockets.length).toBe(1);
    await world.client.close();
    await world.client.call(list, in30s);
    expect(world.sockets.length).toBe(2);
  });

  it("may take ten seconds, and never longer than until the deadline", async () => {
    await world.client.call(list, in30s);
    await world.client.call(list, until(after(noon, seconds(5))));
    const [logins, calls] = [0, 1].map((which) => world.timeouts.filter((_, i) => i % 2 === which));
    expect(calls).toEqual([seconds(10), seconds(5)]);
    expect(logins).toEqual([seconds(30), seconds(5)]);
  });

  it("starts only with enough time left for an answer", async () => {
    await world.client.call(list, until(after(noon, 300)));
    expect(world.asked).toHaveLength(1);
    const failure = world.client.call(list, until(after(noon, 299)));
    await expect(failure).rejects.toThrow(new OutOfTimeError("the deadline passed before GET /api/v1/nodes"));
    expect(world.asked).toHaveLength(1);
  });

  it("is repeated after a pause, which is longer each time", async () => {
    expect(await world.failing({ status: 503 }, { status: 500 }, { body: "[]" })).toEqual([]);
    expect(world.pauses).toEqual([100, 200]);
    expect(world.metrics.total("ApiThrottled")).toBe(0);
  });

  it("is repeated after the pause that the server asks for and its own", async () => {
    const headers = { "retry-after": "7" };
    await world.failing({ status: 429, headers }, { status: 503, headers }, {});
    expect(world.pauses).toEqual([7_100, 7_200]);
    expect(world.metrics.total("ApiThrottled")).toBe(1);
  });

  it("is not repeated when the pause would end at the deadline", async () => {
    world.answers = [{ status: 503, headers: { "retry-after": "7" } }];
    const failure = world.client.call(list, until(after(noon, 7_100)));
    await expect(failure).rejects.toThrow(/too short to try GET .* again: .*503: /);
    await expect(failure).rejects.toMatchObject({ cause: { status: 503 } });
    expect(world.pauses).toEqual([]);
  });

  it("is repeated as long as the server throttles, and eight times when it fails", async () => {
    expect(await world.failing(...Array(20).fill({ status: 429 }), { body: "[]" })).toEqual([]);
    world.asked.length = 0;
    const error = await world.failing({ status: 500, body: "broken" });
    expect(String(error)).toBe(
      "TryAgainError: GET /api/v1/nodes failed 8 times: GET /api/v1/nodes was answered with 500: broken",
    );
    expect(error).toMatchObject({ cause: { status: 500 } });
    expect(world.asked).toHaveLength(8);
    expect(world.refreshes).toBe(0);
  });

  it("is repeated eight times where a server that is not ready refuses it", async () => {
    const error = await world.failing({ status: 403, body: "forbidden" });
    expect(error).toBeInstanceOf(TryAgainError);
    expect(String(error)).toMatch(/GET \/api\/v1\/nodes was refused \(403\) by an API server that does not/);
    expect(String(error)).toMatch(/just starting, check ClusterRole, binding and the access entry/);
    expect(error).toMatchObject({ cause: { message: expect.stringContaining("forbidden") } });
    expect(world.asked.filter((one) => Object(one).url === "/api/v1/nodes")).toHaveLength(8);
  });

  it("renews the login once, and fails when that is refused, too", async () => {
    const error = await world.failing({ status: 401 });
    expect(error).toBeInstanceOf(BrokenSetupError);
    expect([world.asked.length, world.refreshes, world.pauses]).toEqual([2, 1, []]);
  });

  describe("to a server with a certificate", () => {
    const [trusted, another] = [selfSigned(), selfSigned()];
    const calls = (tls: ClusterAccess["tls"], test: TestContext) => {
      const server = createServer(trusted, (_, response) => response.end('{"kind":"NodeList"}')).listen(0);
      test.onTestFinished(() => void server.close());
      const { port } = server.address() as AddressInfo;
      world.access = { server: `https://127.0.0.1:${port}`, tls, headers: {} };
      return world.client.call(list, in30s).catch((error: unknown) => error);
    };

    it("that it does not trust, fails at once with the remedy", async (test) => {
      const error = await calls({ ca: another.cert }, test);
      expect(error).toBeInstanceOf(BrokenSetupError);
      expect(error).toMatchObject({
        message: expect.stringMatching(/is not trusted: check the certificate authority .*\(GET \/api/),
        cause: { code: "DEPTH_ZERO_SELF_SIGNED_CERT" },
      });
      expect([world.refreshes, world.pauses]).toEqual([1, []]);
    });

    it("for another name, fails with the remedy for that", async (test) => {
      const error = await calls({ ca: trusted.cert, servername: "example.com" }, test);
      expect(error).toMatchObject({ message: expect.stringContaining("is for another name") });
    });

    it("that a new login trusts, succeeds", async (test) => {
      const renew = () => {
        world.access = { ...world.access, tls: { ca: trusted.cert } };
      };
      world.onRefresh = renew;
      expect(await calls({ ca: another.cert }, test)).toEqual({ kind: "NodeList" });
    });
  });

  it("fails at once where the server does not speak TLS", async () => {
    world.access = { ...world.access, server: world.access.server.replace("http:", "https:") };
    const error = await world.client.call(list, in30s).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(BrokenSetupError);
    expect(world.pauses).toEqual([]);
  });

  it.each<[Answer, string]>([
    [{ status: 404, body: '{"kind":"Status","message":"node a not found"}' }, "404: node a not found"],
    [{ status: 400, body: "<html>a proxy</html>" }, "400: <html>a proxy</html>"],
    [
      { status: 302, body: "", headers: { location: "https://x.example.com/?y=z" } },
      "302: go to https://x.example.com",
    ],
    [{ status: 307, body: "", headers: { location: "/elsewhere" } }, "307: Temporary Redirect"],
    [{ status: 307, body: "moved", headers: { location: "https://x.example.com/y" } }, "307: moved"],
  ])("fails with the server's reason: %j", async (answer, reason) => {
    expect(await message(answer)).toBe(`KubernetesError: GET /api/v1/nodes was answered with ${reason}`);
    expect(world.asked).toHaveLength(1);
  });

  it("never takes an answer for one that is not complete", async () => {
    expect(await message({ body: '{"items":[' })).toMatch(
      /failed 8 times: the answer is not complete JSON: \{"items":\[$/,
    );
  });
});
