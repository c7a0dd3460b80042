import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runningHolder } from "../../cli/control/running.ts";
import { after, hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { KubernetesTransport } from "../../lambda/kubernetes/transport.ts";
import { readSettings } from "../../lambda/settings.ts";
import { PrometheusMetrics } from "../../local/metrics/prometheus.ts";
import type { Run } from "../../local/run/run.ts";
import { FakeNodeClaims } from "../../simulator/fake-node-claims.ts";
import { newFolder } from "../support/new-folder.ts";
import { RunWorld, settings, soon, stayHeld, untilReady } from "./run-world.ts";

const nodes = "/api/v1/nodes";

let world: RunWorld;
beforeEach(async () => {
  world = await RunWorld.open();
});
afterEach(() => world.close());

const watches = () => world.calls.filter((call) => call === "WATCH /api/v1/nodes").length;
const reconnect = async () => {
  const before = watches();
  world.cluster.cutConnections();
  await expect.poll(watches, soon).toBeGreaterThan(before);
};

const claimsPath = "/apis/karpenter.sh/v1/nodeclaims";
const serveClaims = (claims: FakeNodeClaims) =>
  world.cluster.serve(
    claimsPath,
    JSON.parse(JSON.stringify(claims.answer({ method: "GET", path: claimsPath }))),
  );

describe("a run without a right that it can do without", () => {
  it("holds for a constant time where it may not list pods, and says so in its log, metrics and status", async () => {
    world.cluster.pods.isRefused = true;
    const metrics = new PrometheusMetrics("prod");
    const run = await world.startHolding({ settings: readSettings({ cluster: "prod" }), metrics });
    const because = expect.stringContaining("may not list pods");
    expect(world.log.reported("the cluster has not given the holder all of its rights")).toContainEqual({
      because,
    });
    expect(metrics.text()).toMatch(/rights_missing_total\{cluster="prod"\} [1-9]/);
    const { ask } = await runningHolder({ run: world.folder }, {});
    expect(await ask({ do: "status" })).toMatchObject({
      rules: { auto: false },
      limits: expect.arrayContaining([because]),
    });
    await run.stop();
  });
});

describe("a run that observes", () => {
  const observing = { ...settings, mode: "observe" } as const;

  it("records what it would hold, and changes no node", async () => {
    const run = await world.start({ settings: observing });
    world.joins("a");
    const kinds = () => run.timeline.events.map(({ kind }) => kind);
    await expect.poll(kinds, soon).toContain("hold started");
    await run.stop({ release: true });
    expect(world.calls.filter((call) => call.startsWith("PATCH"))).toEqual([]);
    expect(world.log.reported(stayHeld)).toEqual([]);
  });
});

describe("a run at work", () => {
  it("writes Events about nodes where the settings ask for them", async () => {
    await world.startHolding({ settings: { ...settings, nodeEvents: true } });
    const about = () =>
      world.cluster.events.all().map(({ involvedObject, reason }) => [Object(involvedObject).name, reason]);
    await expect.poll(about, soon).toEqual([["a", "Held"]]);
  });

  it("renews its login when the cluster refuses it", async () => {
    await untilReady(await world.start());
    const login = vi.spyOn(world.config, "getCurrentCluster");
    world.cluster.fail({ kind: "status", status: 401 }, { method: "PATCH" });
    world.joins("a");
    await expect.poll(() => world.held(), soon).toEqual(["a"]);
    expect(login).toHaveBeenCalled();

    const before = watches();
    login.mockClear();
    world.cluster.fail({ kind: "status", status: 401 }, { method: "GET", path: nodes });
    world.cluster.cutConnections();
    await expect.poll(watches, soon).toBe(before + 2);
    expect(login).toHaveBeenCalled();
  });

  it("connects again when nothing arrives, though a bookmark should", async () => {
    const stream = KubernetesTransport.prototype.stream;
    const idles: number[] = [];
    type Stream = KubernetesTransport["stream"];
    const impatient = function (this: KubernetesTransport, ...[request, options]: Parameters<Stream>) {
      idles.push(options.idle);
      return stream.call(this, request, { ...options, idle: 50 });
    };
    vi.spyOn(KubernetesTransport.prototype, "stream").mockImplementation(impatient);
    await world.start();
    await expect.poll(watches, soon).toBeGreaterThan(2);
    expect(idles[0]).toBe(seconds(90));
  });

  it("starts no hold for a node that joins after a release and was launched before it", async () => {
    const claims = new FakeNodeClaims();
    claims.add({ name: "c", createdAt: after(new Date(), -seconds(30)), instance: "i-1" });
    serveClaims(claims);
    await world.start();
    const { ask } = await runningHolder({ run: world.folder }, {});
    await ask({ do: "release", reason: "now" });
    const planned = () => world.log.reported("planned").length;
    const before = planned();
    // In a later second than the release.
    world.joins("a", { ago: -seconds(2), providerId: "aws:///eu-central-1a/i-1" });
    await expect.poll(planned, soon).toBeGreaterThan(before);
    expect(await ask({ do: "status" })).toMatchObject({ scopes: [{ state: "none" }] });
  });

  it("holds by its sweep what its watch does not show", async () => {
    vi.spyOn(KubernetesTransport.prototype, "stream").mockImplementation(
      (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener("abort", reject)),
    );
    await world.start({ settings: { ...settings, sweepEvery: 200 } });
    world.joins("unseen");
    const [claims, now] = [new FakeNodeClaims(), new Date()];
    claims.add({ name: "c", createdAt: now, instance: "i-1", node: "unseen", openedAt: now });
    serveClaims(claims);
    await expect.poll(() => world.held(), soon).toEqual(["unseen"]);
  });

  it("sweeps as often as it is set to", async () => {
    const sweeps = (run: Run) => run.timeline.events.filter(({ kind }) => kind === "sweep").length;
    const often = await world.start({ settings: { ...settings, sweepEvery: 50 } });
    const seldom = await world.start({ folder: newFolder() });
    await expect.poll(() => sweeps(often), soon).toBeGreaterThan(3);
    expect(sweeps(seldom)).toBe(1);
  });

  it.each([
    ["an hour", hours(1), 10, 1],
    ["half a minute", seconds(30), 10, 0],
    ["more than half of a hold", seconds(45), 1, 1],
  ])("where its clock is ahead by %s, says so once or not at all", async (_, ahead, hold, times) => {
    const clock = { now: () => after(new Date(), ahead) };
    const run = await world.start({ clock, settings: { ...settings, hold: minutes(hold) } });
    await untilReady(run);
    await reconnect();
    await world.roundTrip();
    expect(world.log.lines.filter(({ sentence }) => /clock is ahead/.test(sentence))).toHaveLength(times);
  });

  it("holds in a window that has begun, for the rest of it, and again after a restart", async () => {
    const begun = new Date(Math.floor(Date.now() / 1_000) * 1_000 - minutes(1));
    const schedule = `at(${begun.toISOString().slice(0, 19)})`;
    const windows = [{ schedule, timeZone: "UTC", for: "2h", scope: undefined }];
    world.joins("old", { ago: hours(24) });
    await (await world.start({ windows })).stop({ release: false });
    await world.start({ windows });
    await expect.poll(() => world.held(), soon).toEqual(["old"]);
    const request = { name: `${schedule} UTC`, cause: "window", until: after(begun, hours(2)).toISOString() };
    const asked = await (await runningHolder({ run: world.folder }, {})).ask({ do: "status" });
    expect(asked).toMatchObject({ scopes: [{ requests: [request] }] });
  });

  it("answers operators once it works, and not before", async () => {
    const ask = async () => (await runningHolder({ run: world.folder }, {})).ask({ do: "status" });
    const early = async () => void (await expect(ask()).rejects.toThrow("starting or stopping"));
    await world.start({}, [early]);
    await expect(ask()).resolves.toMatchObject({ cluster: "prod" });
  });

  it.each([
    ["no node can be patched", "PATCH", 403, "nodes cannot be patched"],
    ["every call is refused", "GET", 401, "the last sweep failed"],
  ])("is not ready while %s", async (_, method, status, problem) => {
    const metrics = new PrometheusMetrics("prod");
    const run = await world.start({ metrics, settings: { ...settings, sweepEvery: 200 } });
    await untilReady(run);
    run.measure();
    expect(metrics.text()).toMatch(/watch_connected\S+ 1\n/);
    world.cluster.fail({ kind: "status", status }, { method }, 1_000);
    world.joins("a");
    await expect.poll(() => run.problems, soon).toContain(problem);
  });

  it("is not ready where a release is overdue, and measures by how much", async () => {
    let ahead = 0;
    const metrics = new PrometheusMetrics("prod");
    const run = await world.startHolding({ metrics, clock: { now: () => after(new Date(), ahead) } });
    ahead = minutes(15);
    expect(run.problems).toContainEqual(expect.stringMatching(/^a release is overdue by [45]m/));
    run.measure();
    expect(metrics.text()).toMatch(/overdue_seconds\S+ (29\d|30\d)/);
  });

  it("is not ready while its watch does not work, and not live when that lasts", async () => {
    let ahead = 0;
    const run = await world.start({ clock: { now: () => after(new Date(), ahead) } });
    await untilReady(run);
    await world.cluster.stop();
    await expect.poll(() => run.problems, soon).toContain("the watch of nodes is not connected");
    expect(run.isLive).toBe(true);
    ahead = minutes(10);
    expect(run.isLive).toBe(false);
  });
});
