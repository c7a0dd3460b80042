import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { TryAgainError } from "../../lambda/core/errors.ts";
import { KubernetesClient } from "../../lambda/kubernetes/client.ts";
import { KubernetesError } from "../../lambda/kubernetes/error.ts";
import { TooLongError } from "../../lambda/kubernetes/transport.ts";
import { systemClock as clock } from "../../lambda/system-clock.ts";
import { requestUrl, serveHttp } from "../../local/http-server.ts";
import { NodeWatch } from "../../local/run/node-watch.ts";
import { CollectedLog, CollectedMetrics } from "../../simulator/collected-log.ts";
import { sendEndlessly } from "./faulty-answers.ts";
import { everythingIn, expectClear, expectSecret } from "./fuzz.ts";

const token = "the-secret-token";
const node = (name: string) => ({
  metadata: { name, uid: "1", resourceVersion: "2", creationTimestamp: "2026-11-21T12:00:00Z" },
  spec: { providerID: `kwok://${name}` },
});
const line = (event: unknown) => `${JSON.stringify(event)}\n`;
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

describe("a watch with malformed events", () => {
  it.each<[string, (response: ServerResponse, url: string) => void]>([
    ["an invalid type", (response) => response.end(line({ type: { toString: 1 }, object: {} }))],
    [
      "a node with an invalid name",
      (response) => response.end(line({ type: "ADDED", object: node("../a") })),
    ],
    ["an error without a message", (response) => response.end(line({ type: "ERROR", object: {} }))],
    [
      "a refusal that contains the request",
      (response) => response.writeHead(403).end(`you said Bearer ${token}`),
    ],
    ["a redirect", (response, url) => response.writeHead(302, { location: `${url}/elsewhere` }).end()],
    ["an endless line", (response) => sendEndlessly(response)],
  ])("connects again, lists all nodes and reveals no token: %s", async (_, nonsense) => {
    const paths = new Set<string>();
    let watches = 0;
    const server = await serveHttp((request, response) => {
      const { pathname, searchParams } = requestUrl(request);
      paths.add(pathname);
      if (!searchParams.has("watch")) response.end(line({ metadata: { resourceVersion: "1" }, items: [] }));
      else if (++watches === 1) nonsense(response, server.url);
      else response.write(line({ type: "ADDED", object: node("b") }));
    });
    closing.push(() => server.stop());
    const access = { server: server.url, tls: {}, headers: { authorization: `Bearer ${token}` } };
    const login = { access: async () => access, refresh: () => {} };
    const api = new KubernetesClient({ login, clock, metrics: new CollectedMetrics() });
    closing.push(() => api.close());
    const log = new CollectedLog();
    const watch = new NodeWatch({ api, login, selector: "", clock, log, onChange: () => {} });
    closing.push(() => watch.stop());

    await watch.start();

    await expect.poll(() => [...watch.nodes.keys()], { timeout: 60_000, interval: 10 }).toEqual(["b"]);
    const broke = log.reported("the watch broke and connects again");
    expect(broke.length).toBeLessThan(2);
    for (const { error } of broke)
      expectClear(error, [TryAgainError, KubernetesError, TooLongError], [token]);
    expectSecret(everythingIn(log.lines), [token]);
    expect(everythingIn(log.lines).length).toBeLessThan(20_000);
    expect([...paths]).toEqual(["/api/v1/nodes"]);
  });
});
