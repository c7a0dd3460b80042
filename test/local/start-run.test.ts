import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runningHolder } from "../../cli/control/running.ts";
import {
  accessManifest,
  clusterRoleBindingPath,
  clusterRolePath,
} from "../../lambda/cluster-access/manifest.ts";
import { rightsToRun } from "../../local/run/manifest-yaml.ts";
import { after, hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { TryAgainError } from "../../lambda/core/errors.ts";
import { holdIdOf } from "../../lambda/core/marks/hold-id.ts";
import { holderName, holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import { KubernetesClient } from "../../lambda/kubernetes/client.ts";
import { parseNode } from "../../lambda/kubernetes/node-objects.ts";
import { KubernetesTransport } from "../../lambda/kubernetes/transport.ts";
import { readSettings } from "../../lambda/settings.ts";
import { PrometheusMetrics } from "../../local/metrics/prometheus.ts";
import { openRun, type Run, type RunOptions } from "../../local/run/run.ts";
import { SqliteTable } from "../../local/run/sqlite-table.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { FakeKubernetesServer } from "../../simulator/fake-kubernetes/fake-kubernetes-server.ts";
import { FakeNodeClaims } from "../../simulator/fake-node-claims.ts";
import { newFolder } from "../support/new-folder.ts";

const { annotation, poolLabel, registeredLabel } = Karpenter.v1;
const settings = readSettings({ cluster: "prod", hold: "10m" });
const release = "karpenter-node-holder run --release-only";
const stayHeld = "nodes stay held until the holder runs again";
const nodes = "/api/v1/nodes";
const reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const soon = { timeout: 10_000, interval: 10 };
const idAt = (ago: number) => holdIdOf(after(new Date(), -ago), "theirs");

let cluster: FakeKubernetesServer;
let folder: string;
let log: CollectedLog;
let config: KubeConfig;
/** Every call that reached the cluster. */
let calls: string[];
let runs: Run[];

beforeEach(async () => {
  [calls, runs, folder, log] = [[], [], newFolder(), new CollectedLog()];
  cluster = await FakeKubernetesServer.start({
    onRequest: ({ method, path, query }) =>
      void calls.push(`${query.has("watch") ? "WATCH" : method} ${path}`),
  });
  config = new KubeConfig();
  config.loadFromString(cluster.kubeconfig());
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const run of runs) await run.stop();
  await cluster.stop();
});

async function start(options: Partial<RunOptions> = {}, servers?: Parameters<Run["start"]>[0]): Promise<Run> {
  const run = await openRun({ settings, config, folder, log, release, ...options });
  runs.push(run);
  await run.start(servers);
  return run;
}
const joins = (name: string, { ago = 0, holdId }: { ago?: number; holdId?: string } = {}) =>
  cluster.addNode({
    name,
    labels: { [poolLabel]: "default", [registeredLabel]: "true", ...(holdId && { [holdLabel]: holdId }) },
    annotations: holdId ? { [annotation]: "true" } : {},
    providerId: `kwok://${name}`,
    joinedAt: after(new Date(), -ago),
  });
const held = () =>
  cluster
    .nodes()
    .map(parseNode)
    .flatMap(({ name, labels, annotations }) =>
      labels?.[holdLabel] && annotations?.[annotation] === "true" ? [name] : [],
    );
const untilReady = (run: Run) => expect.poll(() => run.problems, soon).toEqual([]);
const watches = () => calls.filter((call) => call === "WATCH /api/v1/nodes").length;
const reconnect = async () => {
  const before = watches();
  cluster.cutConnections();
  await expect.poll(watches, soon).toBeGreaterThan(before);
};
/** What the server sent before this has arrived after it. */
const roundTrip = async () => (await fetch(`${cluster.server}/livez`)).text();

const ownAnswer = async () => (await runningHolder({ run: folder }, {})).ask({ do: "status" });

/** A run that holds a node. */
async function startHolding(options?: Partial<RunOptions>): Promise<Run> {
  const run = await start(options);
  joins("a");
  await expect.poll(held, soon).toEqual(["a"]);
  return run;
}

/** From now on calls fail as they do when the API server is away, without repetitions. */
const goAway = () =>
  void vi.spyOn(KubernetesClient.prototype, "call").mockRejectedValue(new TryAgainError("it is away"));
const fillDisk = () =>
  void vi.spyOn(SqliteTable.prototype, "put").mockRejectedValue(new TryAgainError("the disk is full"));

describe("a run that cannot start", () => {
  const denied = { status: { allowed: false } };
  const failToList = () => cluster.fail({ kind: "status", status: 400, message: "no list" }, { path: nodes });

  it.each<[string, () => unknown, string]>([
    ["its socket cannot be made", () => mkdirSync(join(folder, "control.sock")), "a socket cannot be made"],
    ["a right is missing", () => cluster.serve(reviews, denied), "get, list, watch, patch nodes"],
    ["the cluster is away", goAway, "the cluster at"],
    ["nodes cannot be listed", failToList, "no list"],
    ["a port is in use", () => () => Promise.reject(new Error("EADDRINUSE")), "EADDRINUSE"],
  ])("because %s has touched no node, and closes what it opened", async (_, prepare, message) => {
    joins("young");
    const second = prepare();
    let isOpen = false;
    const stop = async () => {
      isOpen = false;
    };
    const server = async () => {
      isOpen = true;
      return { stop };
    };

    const servers = [server, ...(typeof second === "function" ? [async () => second()] : [])];
    await expect(start({}, servers)).rejects.toThrow(message);

    expect(isOpen).toBe(false);
    expect(calls.filter((call) => /PATCH|WATCH/.test(call))).toEqual([]);
    SqliteTable.open(join(folder, "record.sqlite"), new Date()).close();
  });

  it("warns of what an earlier run holds, and until when", async () => {
    await (await startHolding()).stop();
    log = new CollectedLog();
    goAway();
    await expect(start()).rejects.toThrow("the cluster at");
    expect(log.reported(stayHeld)).toEqual([{ nodes: "unknown", until: expect.any(Date), release }]);
  });
});

describe("a run without a right that it can do without", () => {
  it("holds for a constant time where it may not list pods, and says so in its log, metrics and status", async () => {
    cluster.pods.isRefused = true;
    const metrics = new PrometheusMetrics("prod");
    const run = await startHolding({ settings: readSettings({ cluster: "prod" }), metrics });
    const because = expect.stringContaining("may not list pods");
    expect(log.reported("the cluster has not given the holder all of its rights")).toContainEqual({
      because,
    });
    expect(metrics.text()).toMatch(/rights_missing_total\{cluster="prod"\} [1-9]/);
    const { ask } = await runningHolder({ run: folder }, {});
    expect(await ask({ do: "status" })).toMatchObject({
      rules: { auto: false },
      limits: expect.arrayContaining([because]),
    });
    await run.stop();
  });
});

it("a run writes Events about nodes where the settings ask for them", async () => {
  await startHolding({ settings: { ...settings, nodeEvents: "true" } });
  const about = () =>
    cluster.events.all().map(({ involvedObject, reason }) => [Object(involvedObject).name, reason]);
  await expect.poll(about, soon).toEqual([["a", "Held"]]);
});

describe("a run beside another holder", () => {
  const refusal = "another holder seems to work on this cluster";
  const account = { kind: "ServiceAccount", name: holderName, namespace: holderName } as const;
  /** Installs the ClusterRole and its binding. */
  const install = (objects: readonly object[]) => {
    for (const [path, kind] of [
      [clusterRolePath, "ClusterRole"],
      [clusterRoleBindingPath, "ClusterRoleBinding"],
    ] as const) {
      const object = objects.find((one) => Object(one).kind === kind);
      cluster.serve(path, JSON.parse(JSON.stringify(object)));
    }
  };
  const functions = () => accessManifest([annotation]).map(({ object }) => object);

  it.each<[string, () => unknown, string]>([
    [
      "nodes carry marks of a hold that may run",
      () => joins("b", { holdId: idAt(hours(24 * 7) - minutes(1)) }),
      "1 nodes carry",
    ],
    ["a deployed holder has rights", () => install(functions()), "a deployed holder"],
    ["a Pod has rights", () => install(rightsToRun([annotation], { subject: account })), "a holder in a Pod"],
  ])("refuses to start where %s, unless it is to take its place", async (_, prepare, because) => {
    prepare();
    const before = cluster.nodes();
    await expect(start()).rejects.toMatchObject({
      message: expect.stringMatching(new RegExp(`^${refusal}: .*${because}`)),
      remedy: expect.stringMatching(/^Stop the other holder.* --take-over/),
    });
    expect(cluster.nodes()).toEqual(before);
    expect(log.reported(stayHeld)).toEqual([]);
    await start({ takeOver: true });
  });

  it("starts with rights of its own, and where it may not read whose they are", async () => {
    install(rightsToRun([annotation]));
    await (await start()).stop();
    cluster.fail({ kind: "status", status: 403 }, { path: clusterRolePath });
    await start();
  });

  it("removes marks of a hold that is over, however long it was asked for, and says so", async () => {
    joins("b", { ago: hours(24 * 9), holdId: idAt(hours(24 * 7) + minutes(1)) });
    const withoutCap = [
      readSettings({ cluster: "prod", hold: "20m", maxHold: "0s" }),
      readSettings({ cluster: "prod" }),
    ];
    for (const noCap of withoutCap) await expect(start({ settings: noCap })).rejects.toThrow(refusal);
    await start();
    expect(log.reported("marks of holds that are not in this record are removed")).toEqual([{ nodes: 1 }]);
    expect(held()).toEqual([]);
  });

  it("knows its own marks when it starts again, and removes those of a hold that expired meanwhile", async () => {
    await (await startHolding()).stop();
    await (await start()).stop();
    const [mark] = cluster.nodes();
    expect(held()).toEqual(["a"]);
    await (await start({ clock: { now: () => after(new Date(), minutes(11)) } })).stop();
    expect(held()).toEqual([]);
    joins("late", { ago: hours(1), holdId: parseNode(mark).labels?.[holdLabel] ?? "" });
    await start();
    expect(held()).not.toContain("late");
  });
});

describe("a run beside marks of an earlier one", () => {
  const other = { ...settings, holdAnnotation: "example.com/stay" };

  it("refuses another annotation than theirs, names the command that releases them, and works after that", async () => {
    await (await startHolding()).stop();
    await expect(start({ settings: other })).rejects.toMatchObject({
      message: `1 nodes are marked by the annotation ${annotation}, and these settings name example.com/stay`,
      remedy: `Release them first: ${release} --hold-annotation ${annotation}`,
    });
    expect(held()).toEqual(["a"]);
    await (await start()).stop({ release: true });
    await start({ settings: other });
    // A launch in the second of the release came before it.
    joins("b", { ago: -seconds(1) });
    await expect.poll(() => cluster.annotationHistory("b", "example.com/stay").at(-1), soon).toBe("true");
    expect(cluster.annotationHistory("a", annotation)).toEqual([undefined, "true", undefined]);
  });

  it("does not take a user's annotation beside the mark for its own", async () => {
    await (await startHolding()).stop();
    cluster.editNode("a", { annotations: { "example.com/stay": "true" } });
    await start();
  });

  it("releases them where it observes and may still change nodes, and is refused where it may not", async () => {
    await (await startHolding()).stop();
    const observing = { ...settings, mode: "observe" } as const;
    const call = KubernetesClient.prototype.call;
    const denying = vi.spyOn(KubernetesClient.prototype, "call").mockImplementation(async function (
      this: KubernetesClient,
      ...given
    ) {
      const { verb } = Object(given[0].body).spec?.resourceAttributes ?? {};
      return verb ? { status: { allowed: verb !== "patch" } } : call.apply(this, given);
    });
    await expect(start({ settings: observing })).rejects.toMatchObject({
      message: "1 nodes are marked from before, and the cluster does not let this user patch nodes",
      remedy: `Release them first, with the rights of mode=hold: ${release} --mode hold`,
    });
    denying.mockRestore();
    await start({ settings: observing });
    expect(held()).toEqual([]);
  });
});

describe("a run that observes", () => {
  const observing = { ...settings, mode: "observe" } as const;

  it("records what it would hold, and changes no node", async () => {
    const run = await start({ settings: observing });
    joins("a");
    const kinds = () => run.timeline.events.map(({ kind }) => kind);
    await expect.poll(kinds, soon).toContain("hold started");
    await run.stop({ release: true });
    expect(calls.filter((call) => call.startsWith("PATCH"))).toEqual([]);
    expect(log.reported(stayHeld)).toEqual([]);
  });
});

describe("a run at work", () => {
  it("names at first the cluster and the annotation to which it writes", async () => {
    await start();
    const fields = { cluster: "prod", context: "fake", annotation };
    expect(log.lines[0]).toMatchObject({ sentence: "the holder starts", fields });
    expect(log.lines[0]?.fields.server).toContain(cluster.server);
  });

  it("marks at once a node that joins while a hold is on", async () => {
    await startHolding();
    joins("b");
    await expect.poll(held, { ...soon, timeout: seconds(8) }).toEqual(["a", "b"]);
  });

  it("renews its login when the cluster refuses it", async () => {
    await untilReady(await start());
    const login = vi.spyOn(config, "getCurrentCluster");
    cluster.fail({ kind: "status", status: 401 }, { method: "PATCH" });
    joins("a");
    await expect.poll(held, soon).toEqual(["a"]);
    expect(login).toHaveBeenCalled();

    const before = watches();
    login.mockClear();
    cluster.fail({ kind: "status", status: 401 }, { method: "GET", path: nodes });
    cluster.cutConnections();
    await expect.poll(watches, soon).toBe(before + 2);
    expect(login).toHaveBeenCalled();
  });

  it("connects again when nothing arrives, though a bookmark should", async () => {
    const stream = KubernetesTransport.prototype.stream;
    const idles: number[] = [];
    vi.spyOn(KubernetesTransport.prototype, "stream").mockImplementation(function (
      this: KubernetesTransport,
      request,
      options,
    ) {
      idles.push(options.idle);
      return stream.call(this, request, { ...options, idle: 50 });
    });
    await start();
    await expect.poll(watches, soon).toBeGreaterThan(2);
    expect(idles[0]).toBe(seconds(90));
  });

  it("holds by its sweep what its watch does not show", async () => {
    vi.spyOn(KubernetesTransport.prototype, "stream").mockImplementation(
      (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener("abort", reject)),
    );
    await start({ settings: { ...settings, sweepEvery: 200 } });
    joins("unseen");
    const [claims, now] = [new FakeNodeClaims(), new Date()];
    claims.add({ name: "c", createdAt: now, instance: "i-1", node: "unseen", joinedAt: now });
    const path = "/apis/karpenter.sh/v1/nodeclaims";
    cluster.serve(path, JSON.parse(JSON.stringify(claims.answer({ method: "GET", path }))));
    await expect.poll(held, soon).toEqual(["unseen"]);
  });

  it("sweeps as often as it is set to", async () => {
    const sweeps = (run: Run) => run.timeline.events.filter(({ kind }) => kind === "sweep").length;
    const often = await start({ settings: { ...settings, sweepEvery: 50 } });
    const seldom = await start({ folder: newFolder() });
    await expect.poll(() => sweeps(often), soon).toBeGreaterThan(3);
    expect(sweeps(seldom)).toBe(1);
  });

  it.each([
    ["an hour", hours(1), 10, 1],
    ["half a minute", seconds(30), 10, 0],
    ["more than half of a hold", seconds(45), 1, 1],
  ])("where its clock is ahead by %s, says so once or not at all", async (_, ahead, hold, times) => {
    const clock = { now: () => after(new Date(), ahead) };
    const run = await start({ clock, settings: { ...settings, hold: minutes(hold) } });
    await untilReady(run);
    await reconnect();
    await roundTrip();
    expect(log.lines.filter(({ sentence }) => /clock is ahead/.test(sentence))).toHaveLength(times);
  });

  it("holds in a window that has begun, for the rest of it, and again after a restart", async () => {
    const begun = new Date(Math.floor(Date.now() / 1_000) * 1_000 - minutes(1));
    const schedule = `at(${begun.toISOString().slice(0, 19)})`;
    const windows = [{ schedule, timeZone: "UTC", for: "2h", scope: undefined }];
    joins("old", { ago: hours(24) });
    await (await start({ windows })).stop({ release: false });
    await start({ windows });
    await expect.poll(held, soon).toEqual(["old"]);
    const request = { name: `${schedule} UTC`, cause: "window", until: after(begun, hours(2)).toISOString() };
    const asked = await (await runningHolder({ run: folder }, {})).ask({ do: "status" });
    expect(asked).toMatchObject({ scopes: [{ requests: [request] }] });
  });

  it("shows a hold from before on its page from the start", async () => {
    await (await startHolding()).stop();
    const { timeline } = await start();
    const [first] = timeline.events;
    expect(first).toMatchObject({ kind: "hold started", scope: "cluster" });
  });

  it("answers operators once it works, and not before", async () => {
    const ask = async () => (await runningHolder({ run: folder }, {})).ask({ do: "status" });
    const early = async () => void (await expect(ask()).rejects.toThrow("starting or stopping"));
    await start({}, [early]);
    await expect(ask()).resolves.toMatchObject({ cluster: "prod" });
  });

  it.each<[string, () => void, string]>([
    [
      "no node can be patched",
      () => cluster.fail({ kind: "status", status: 403 }, { method: "PATCH" }, 1_000),
      "nodes cannot be patched",
    ],
    [
      "every call is refused",
      () => cluster.fail({ kind: "status", status: 401 }, { method: "GET" }, 1_000),
      "the last sweep failed",
    ],
  ])("is not ready while %s", async (_, prepare, problem) => {
    const metrics = new PrometheusMetrics("prod");
    const run = await start({ metrics, settings: { ...settings, sweepEvery: 200 } });
    await untilReady(run);
    run.measure();
    expect(metrics.text()).toMatch(/watch_connected\S+ 1\n/);
    prepare();
    joins("a");
    await expect.poll(() => run.problems, soon).toContain(problem);
  });

  it("is not ready where a release is overdue, and measures by how much", async () => {
    let ahead = 0;
    const metrics = new PrometheusMetrics("prod");
    const run = await startHolding({ metrics, clock: { now: () => after(new Date(), ahead) } });
    ahead = minutes(15);
    expect(run.problems).toContainEqual(expect.stringMatching(/^a release is overdue by [45]m/));
    run.measure();
    expect(metrics.text()).toMatch(/overdue_seconds\S+ (29\d|30\d)/);
  });

  it("is not ready while its watch does not work, and not live when that lasts", async () => {
    let ahead = 0;
    const run = await start({ clock: { now: () => after(new Date(), ahead) } });
    await untilReady(run);
    await cluster.stop();
    await expect.poll(() => run.problems, soon).toContain("the watch of nodes is not connected");
    expect(run.isLive).toBe(true);
    ahead = minutes(10);
    expect(run.isLive).toBe(false);
  });
});

describe("a run whose disk is full", () => {
  it("still holds, still releases what is due, and does what it is asked for", async () => {
    let ahead = 0;
    const clock = { now: () => after(new Date(), ahead) };
    const metrics = new PrometheusMetrics("prod");
    const run = await startHolding({ clock, metrics, settings: { ...settings, sweepEvery: 100 } });
    await untilReady(run);
    fillDisk();
    joins("b");
    await expect.poll(held, soon).toEqual(["a", "b"]);
    await expect.poll(() => run.problems, soon).toEqual(["the record cannot be written"]);
    expect(metrics.text()).toMatch(/record_write_failures_total\S+ [1-9]/);
    ahead = minutes(11);
    await expect.poll(held, soon).toEqual([]);

    ahead = 0;
    const { ask } = await runningHolder({ run: folder }, {});
    await ask({ do: "hold", for: "5m", reason: "test" });
    expect(held()).toEqual(["a", "b"]);
    await ask({ do: "release" });
    await run.stop({ release: true });
    expect(held()).toEqual([]);
  });

  it("writes everything as soon as there is room", async () => {
    const full = vi.spyOn(SqliteTable.prototype, "put").mockRejectedValue(new TryAgainError("full"));
    const run = await startHolding({ settings: { ...settings, sweepEvery: 100 } });
    full.mockRestore();
    await untilReady(run);
    expect(log.reported("the record is on the disk again")).toHaveLength(1);
    await run.stop();
    const { timeline } = await start();
    expect(timeline.events[0]).toMatchObject({ kind: "hold started", scope: "cluster" });
  });
});

describe("a run whose record is damaged", () => {
  it.each([
    ["is no database", () => "x".repeat(5_000)],
    [
      "is damaged inside",
      (file: string) => readFileSync(file, "latin1").replaceAll(/(?<=^.{4096}).*/gs, "x".repeat(9_000)),
    ],
  ])("puts it aside where it %s, and removes the marks that it held", async (_, damage) => {
    await (await startHolding()).stop();
    const file = join(folder, "record.sqlite");
    writeFileSync(file, damage(file), "latin1");
    // It is older than a launch that would hold.
    const clock = { now: () => after(new Date(), minutes(11)) };
    const run = await start({ clock });
    expect(held()).toEqual([]);
    const [{ lost } = {}] = log.reported("the record is damaged: it was put aside, and a new one begins");
    expect(existsSync(String(lost))).toBe(true);
    expect(await ownAnswer()).toMatchObject({ scopes: [] });
    await run.stop();
  });
});

describe("a run whose record is gone, as with a Pod that has moved", () => {
  it.each([
    ["releases what an old launch held", minutes(11), []],
    ["holds on for a young launch", 0, ["a"]],
  ])("%s", async (_, ahead, expected) => {
    await (await startHolding()).stop();
    folder = newFolder();
    await start({ takeOver: true, clock: { now: () => after(new Date(), ahead) } });
    await expect.poll(held, soon).toEqual(expected);
  });
});

describe("a run that stops", () => {
  it("sees nothing more, and says how many nodes stay held, until when, and what releases them", async () => {
    const run = await startHolding();
    await run.stop();
    expect(log.reported(stayHeld)).toEqual([{ nodes: 1, until: expect.any(Date), release }]);
    joins("b");
    await roundTrip();
    expect(run.timeline.events.filter(({ kind }) => kind === "node joined")).toHaveLength(1);
    expect(run.problems).toEqual(["the holder is starting or stopping"]);
  });

  it("releases everything when it is asked to", async () => {
    await (await startHolding()).stop({ release: true });
    expect(held()).toEqual([]);
    expect(log.reported(stayHeld)).toEqual([]);
  });

  it.each([
    [
      "a node cannot be changed",
      () => cluster.fail({ kind: "status", status: 403 }, { method: "PATCH" }, 100),
      1,
    ],
    ["the API is away", goAway, "unknown"],
  ])("fails to release where %s, and says what stays held, also past its time", async (_, prepare, count) => {
    let ahead = 0;
    const run = await startHolding({ clock: { now: () => after(new Date(), ahead) } });
    prepare();
    ahead = hours(1);
    await expect(run.stop({ release: true })).rejects.toThrow();
    expect(log.reported(stayHeld)).toEqual([{ nodes: count, until: expect.any(Date), release }]);
  });
});
