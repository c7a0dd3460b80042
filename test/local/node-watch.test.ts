import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { after, minutes } from "../../lambda/core/duration.ts";
import { KubernetesClient } from "../../lambda/kubernetes/client.ts";
import type { ClusterLogin } from "../../lambda/kubernetes/transport.ts";
import { systemClock as clock } from "../../lambda/system-clock.ts";
import { requestUrl, serveHttp } from "../../local/http-server.ts";
import { NodeWatch } from "../../local/run/node-watch.ts";
import { CollectedLog, CollectedMetrics } from "../../simulator/collected-log.ts";
import { FakeKubernetesServer } from "../../simulator/fake-kubernetes/fake-kubernetes-server.ts";

describe("the watch of nodes", () => {
  let cluster: FakeKubernetesServer;
  let watch: NodeWatch;
  let api: KubernetesClient;
  let reported: string[];
  let logIn: ClusterLogin["access"];
  /** Done before the server answers the next watch, or the next page of a list. */
  const before: { watch?: () => void; continue?: () => void } = {};

  beforeEach(async () => {
    cluster = await FakeKubernetesServer.start({
      onRequest: ({ query }) => {
        for (const next of ["watch", "continue"] as const) {
          if (!query.has(next)) continue;
          const action = before[next];
          delete before[next];
          action?.();
        }
      },
    });
    logIn = async () => cluster.access();
    const login = { access: () => logIn(), refresh: () => {} };
    api = new KubernetesClient({ login, clock, metrics: new CollectedMetrics() });
    reported = [];
    watch = new NodeWatch({
      api,
      login,
      selector: "pool",
      clock,
      log: new CollectedLog(),
      onChange: ({ before, now }) =>
        reported.push(`${before ? (now ? "changed" : "gone") : "joined"} ${(now ?? before)?.name}`),
    });
  });
  afterEach(async () => {
    await watch.stop();
    await api.close();
    await cluster.stop();
  });

  const joins = (name: string) =>
    cluster.addNode({ name, labels: { pool: "web" }, providerId: `kwok://${name}` });
  const soon = { timeout: 60_000, interval: 10 };

  async function startWatching(): Promise<void> {
    const begun = Promise.withResolvers<void>();
    before.watch = begun.resolve;
    await watch.start();
    await begun.promise;
  }

  /** A watch of another server, whose list this is. */
  async function watchOf(url: string, call: () => Promise<object>): Promise<void> {
    const login = { access: async () => ({ server: url, tls: {}, headers: {} }), refresh: () => {} };
    const about = { api: { call }, login, selector: "pool", clock, log: new CollectedLog() };
    const other = new NodeWatch({ ...about, onChange: () => {} });
    onTestFinished(() => other.stop());
    await other.start();
  }

  it("reports existing nodes, and each that joins, changes and leaves", async () => {
    joins("a");
    cluster.addNode({ name: "other" });
    await watch.start();
    expect(reported).toEqual(["joined a"]);

    joins("b");
    cluster.editNode("b", { annotations: { note: "mine" } });
    cluster.removeNode("a");
    await expect.poll(() => reported, soon).toEqual(["joined a", "joined b", "changed b", "gone a"]);
    expect([...watch.nodes.values()].map(({ instance }) => instance)).toEqual(["kwok://b"]);
  });

  it("starts its list again when the list expires in the middle", async () => {
    for (let i = 0; i < 251; i++) joins(`node-${i}`);
    let isForgotten = false;
    before.continue = () => {
      cluster.forgetThePast();
      isForgotten = true;
    };
    await watch.start();
    expect(isForgotten).toBe(true);
    expect(new Set(reported).size).toBe(251);
    expect(reported).toHaveLength(251);
  });

  it("reports a node once it gets its label", async () => {
    cluster.addNode({ name: "late" });
    await watch.start();
    cluster.editNode("late", { labels: { pool: "web" } });
    await expect.poll(() => reported, soon).toEqual(["joined late"]);
  });

  it("reports a new node with the name of a deleted one as another node", async () => {
    joins("a");
    await watch.start();
    cluster.removeNode("a");
    cluster.addNode({ name: "a", labels: { pool: "web" }, joinedAt: new Date(Date.now() + 60_000) });
    await expect.poll(() => reported, soon).toEqual(["joined a", "gone a", "joined a"]);
  });

  it.each([
    ["the connection is reset", { kind: "reset" }],
    ["the server answers 500", { kind: "status", status: 500 }],
  ] as const)("connects again when %s, and misses nothing", async (_, fault) => {
    before.watch = () => {
      cluster.fail(fault, { method: "GET" });
      joins("meanwhile");
    };
    await watch.start();
    await expect.poll(() => reported, soon).toEqual(["joined meanwhile"]);
  });

  it("asks for bookmarks, and continues from the last one after a pause", async () => {
    const asked: URLSearchParams[] = [];
    const times: number[] = [];
    const bookmark = { type: "BOOKMARK", object: { kind: "Node", metadata: { resourceVersion: "42" } } };
    const server = await serveHttp((request, response) => {
      asked.push(requestUrl(request).searchParams);
      times.push(performance.now());
      // A line may arrive in pieces.
      const [begin, end] = [JSON.stringify(bookmark).slice(0, 20), JSON.stringify(bookmark).slice(20)];
      response.write(begin, () => setTimeout(() => response.end(`${end}\n`), 50));
    });
    onTestFinished(() => server.stop());
    await watchOf(server.url, async () => ({ items: [], metadata: { resourceVersion: "7" } }));
    await expect.poll(() => asked.length, soon).toBeGreaterThan(1);
    const common = { allowWatchBookmarks: "true", timeoutSeconds: "300", labelSelector: "pool" };
    expect(asked.slice(0, 2).map((query) => Object.fromEntries(query))).toMatchObject([
      { ...common, resourceVersion: "7" },
      { ...common, resourceVersion: "42" },
    ]);
    const [first = 0, second = 0] = times;
    expect(second - first).toBeGreaterThan(90);
  });

  it("continues after a broken connection, and reports nothing twice", async () => {
    await watch.start();
    joins("a");
    joins("b");
    await expect.poll(() => reported, soon).toEqual(["joined a", "joined b"]);
    cluster.cutConnections();
    joins("c");
    await expect.poll(() => reported, soon).toEqual(["joined a", "joined b", "joined c"]);
  });

  it("lists again when its version has expired, and reports what joined and left meanwhile", async () => {
    joins("stays");
    for (const name of ["goes", "turns"]) joins(name);
    before.watch = () => {
      joins("comes");
      for (const name of ["goes", "turns"]) cluster.removeNode(name);
      cluster.addNode({ name: "turns", labels: { pool: "web" }, joinedAt: new Date(Date.now() + 60_000) });
      cluster.forgetThePast();
    };
    await watch.start();
    await expect
      .poll(() => reported.slice(3).filter((one) => one !== "changed stays"), soon)
      .toEqual(["gone goes", "joined comes", "gone turns", "joined turns"]);
    expect([...watch.nodes.keys()].toSorted()).toEqual(["comes", "stays", "turns"]);
  });

  it("lists less and less often where every watch is answered that its version has expired", async () => {
    const lists: number[] = [];
    const server = await serveHttp((_, response) => {
      response.writeHead(410).end(JSON.stringify({ kind: "Status", message: "too old" }));
    });
    onTestFinished(() => server.stop());
    await watchOf(server.url, async () => {
      lists.push(performance.now());
      return { items: [], metadata: { resourceVersion: String(lists.length) } };
    });
    await expect.poll(() => lists.length, soon).toBeGreaterThan(4);
    const [, first = 0, second = 0, third = 0] = lists.map((at, i) => at - (lists[i - 1] ?? at));
    expect(first).toBeGreaterThan(90);
    expect(second).toBeGreaterThan(190);
    expect(third).toBeGreaterThan(390);
  });

  it("lists again where stream after stream brings nothing, as from a cluster that was restored", async () => {
    const asked: (string | null)[] = [];
    const server = await serveHttp((request, response) => {
      asked.push(requestUrl(request).searchParams.get("resourceVersion"));
      // A silent stream is ended, too.
      response.destroy();
    });
    onTestFinished(() => server.stop());
    let version = 900;
    await watchOf(server.url, async () => ({ items: [], metadata: { resourceVersion: String(version) } }));
    version = 7;
    await expect.poll(() => asked.at(-1), soon).toBe("7");
    expect(asked).toEqual(["900", "900", "900", "900", "7"]);
  });

  it("counts the time without an answer from the end of a wait for another run", () => {
    let ahead = 0;
    const login = { access: () => logIn(), refresh: () => {} };
    const about = { api, login, selector: "pool", log: new CollectedLog(), onChange: () => {} };
    const waiting = new NodeWatch({ ...about, clock: { now: () => after(new Date(), ahead) } });
    ahead = minutes(11);
    expect(waiting.isWorking).toBe(false);
    waiting.countFromNow();
    expect(waiting.isWorking).toBe(true);
  });

  it("stops at once while it waits for a login", async () => {
    await startWatching();
    const hanging = Promise.withResolvers<void>();
    logIn = () => {
      hanging.resolve();
      return new Promise(() => {});
    };
    cluster.cutConnections();
    await hanging.promise;
    await watch.stop();
  });

  it("stops at once", async () => {
    await watch.start();
    await watch.stop();
    joins("unseen");
    expect(reported).toEqual([]);
  });
});
