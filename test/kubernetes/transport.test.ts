import { once } from "node:events";
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import {
  type ClusterAccess,
  KubernetesTransport,
  longestAnswer,
  pauseAfter,
  readRetryAfter,
  TooLongError,
} from "../../lambda/kubernetes/transport.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { selfSigned } from "../support/self-signed.ts";

const request = { method: "GET", path: "/version", headers: {} };
const patient = { timeout: seconds(10) };
const hasIPv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === "::1"),
);

describe("the transport", () => {
  let answer: RequestListener;
  let open: Set<Socket>;
  let closing: (() => Promise<void>)[];
  let transport: KubernetesTransport;

  beforeEach(async () => {
    answer = (_, response) => response.end("{}");
    open = new Set();
    closing = [];
    transport = await transportTo(createServer());
  });
  afterEach(async () => {
    vi.useRealTimers();
    for (const close of closing) await close();
  });

  async function transportTo(
    server: Server,
    { scheme = "http", host = "127.0.0.1", tls = {} as ClusterAccess["tls"] } = {},
  ): Promise<KubernetesTransport> {
    server.on("request", (asked, response) => answer(asked, response));
    server.on("connection", (socket) => {
      open.add(socket.once("close", () => open.delete(socket)));
    });
    await once(server.listen(0, host.replaceAll(/[[\]]/g, "")), "listening");
    const { port } = server.address() as AddressInfo;
    const started = new KubernetesTransport({ server: `${scheme}://${host}:${port}`, tls });
    closing.push(async () => {
      started.close();
      server.closeAllConnections();
      await once(server.close(), "close");
    });
    return started;
  }

  it("asks only a server that the cluster's CA vouches for", async () => {
    const [ours, another] = [selfSigned(), selfSigned()];
    const asked = vi.fn((_, response: ServerResponse) => response.end("{}"));
    answer = asked;
    const options = { scheme: "https", tls: { ca: ours.cert } };
    const stranger = await transportTo(createSecureServer(another), options);
    await expect(stranger.send(request, patient)).rejects.toThrow(/certificate/);
    expect(asked).not.toHaveBeenCalled();
    const verified = await transportTo(createSecureServer(ours), options);
    expect(await verified.send(request, patient)).toMatchObject({ status: 200, body: "{}" });
  });

  it.skipIf(!hasIPv6)("reaches a server at an IPv6 address", async () => {
    const local = await transportTo(createServer(), { host: "[::1]" });
    expect(await local.send(request, patient)).toMatchObject({ status: 200 });
  });

  it.each([
    [200, ""],
    [300, "the reason"],
    [404, "the reason"],
  ])("reads a body that the caller ignores only for its reason: %i", async (status, body) => {
    answer = (_, response) => response.writeHead(status).end("the reason");
    expect(await transport.send(request, { ...patient, ignoreBody: true })).toMatchObject({ status, body });
  });

  describe("when the server compresses its answer", () => {
    const text = JSON.stringify({ items: Array.from({ length: 1_000 }, () => "a pod") });
    const sends = (body: Buffer, status = 200) => {
      answer = (_, response) => response.writeHead(status, { "content-encoding": "gzip" }).end(body);
    };

    it.each([200, 404])("reads the text of a %i", async (status) => {
      sends(gzipSync(text), status);
      expect(await transport.send(request, patient)).toMatchObject({ status, body: text });
    });

    it.each([
      ["that is cut off", gzipSync(text).subarray(0, 40)],
      ["that is damaged", gzipSync(text).fill(0, 20, 30)],
      ["that is not compressed at all", Buffer.from(text)],
      ["that is empty", Buffer.alloc(0)],
    ])("fails at once for a body %s", async (_, body) => {
      sends(body);
      await expect(transport.send(request, { timeout: minutes(5) })).rejects.toThrow(
        /unexpected end of file|incorrect header check|invalid/,
      );
    });

    it("fails at once when the connection breaks in the middle of it", async () => {
      answer = (_, response) => {
        response.writeHead(200, { "content-encoding": "gzip" }).write(gzipSync(text).subarray(0, 40));
        setTimeout(() => response.destroy(), 20);
      };
      await expect(transport.send(request, { timeout: minutes(5) })).rejects.toThrow(/aborted|premature/i);
    });

    it("reads no more of it than a function has memory for, however small it arrives, unless it is text", async () => {
      expect(longestAnswer).toBeLessThanOrEqual(16 * 1024 * 1024);
      sends(gzipSync(Buffer.alloc(longestAnswer + 1, " ")));
      await expect(transport.send(request, patient)).rejects.toThrow(TooLongError);
      const { body } = await transport.send(request, { ...patient, onPiece: () => {} });
      expect(body).toHaveLength(longestAnswer + 1);
    });
  });

  it("closes the connection of a call that gets no answer in time", async () => {
    const arrived = Promise.withResolvers<void>();
    answer = () => arrived.resolve();
    const timer = (end: () => void) => {
      void arrived.promise.then(end);
      return () => {};
    };
    await expect(transport.send(request, { timeout: 20, timer })).rejects.toThrow("no answer within 20 ms");
    await expect.poll(() => open.size).toBe(0);
  });

  it("gives each piece of a body a time of its own where its pieces are counted", async () => {
    let arrived = Promise.withResolvers<void>();
    answer = async (_, response) => {
      for (const piece of ["long", "er", "!"]) {
        response.write(piece);
        await arrived.promise;
        arrived = Promise.withResolvers();
      }
      response.end();
    };
    const [lengths, timers]: [number[], string[]] = [[], []];
    const timer = () => {
      timers.push("set");
      return () => void timers.push("cancelled");
    };
    const onPiece = (length: number) => {
      lengths.push(length);
      arrived.resolve();
    };
    expect((await transport.send(request, { ...patient, timer, onPiece })).body).toBe("longer!");
    expect(lengths).toEqual([4, 2, 1]);
    await expect.poll(() => timers).toEqual(Array(4).fill(["set", "cancelled"]).flat());
  });

  it("leaves no timer that would delay the end of a command", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    await transport.send(request, patient);
    await transport.send(request, { ...patient, ignoreBody: true });
    await expect.poll(() => vi.getTimerCount()).toBe(0);
  });

  it("closes idle connections at once, and those in use after their response", async () => {
    const arrived = Promise.withResolvers<ServerResponse>();
    answer = (_, response) => arrived.resolve(response);
    const running = transport.send(request, patient);
    const response = await arrived.promise;
    answer = (_, other) => other.end();
    await transport.send(request, patient);
    expect(open.size).toBe(2);
    transport.close();
    await expect.poll(() => open.size).toBe(1);
    response.end("done");
    expect(await running).toMatchObject({ body: "done" });
    await expect.poll(() => open.size).toBe(0);
  });

  it("ends a stream in which nothing comes any more", async () => {
    answer = (_, response) => response.write("one line");
    const { signal } = new AbortController();
    const stream = await transport.stream(request, { idle: 50, signal });
    await expect(stream.toArray()).rejects.toThrow("the response has stopped");
    await expect.poll(() => open.size).toBe(0);
  });
});

describe("the pause before the next attempt", () => {
  it("is twice as long each time, up to ten seconds", () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7, 20].map((attempt) => pauseAfter(attempt, () => 1));
    expect(pauses).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
  });

  it("differs from client to client, by up to half of it", () => {
    expect([0, 0.5].map((random) => pauseAfter(3, () => random))).toEqual([400, 600]);
  });

  it.each<[string | undefined, number | undefined]>([
    ["5", seconds(5)],
    ["0", 0],
    [after(noon, seconds(30)).toUTCString(), seconds(30)],
    [after(noon, -minutes(60)).toUTCString(), 0],
    ["2026-11-21T12:00:30+00:00", seconds(30)],
    ["999999", minutes(15)],
    [undefined, undefined],
    ["", undefined],
    [" ", undefined],
    ["soon", undefined],
  ])("is, after Retry-After %j, at least %s ms", (header, expected) => {
    expect(readRetryAfter(header, noon)).toBe(expected);
  });
});
