import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runningHolder } from "../../cli/control/running.ts";
import {
  accessManifest,
  clusterRoleBindingPath,
  clusterRolePath,
} from "../../lambda/cluster-access/manifest.ts";
import { after, hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { holdIdOf } from "../../lambda/core/marks/hold-id.ts";
import { holderName, holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import { parseNode } from "../../lambda/kubernetes/node-objects.ts";
import { PrometheusMetrics } from "../../local/metrics/prometheus.ts";
import { rightsToRun } from "../../local/run/manifest-yaml.ts";
import { RecordFile } from "../../local/run/record-file.ts";
import { leases, RunLease } from "../../local/run/run-lease.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { goAway, RunWorld, release, settings, soon, stayHeld } from "./run-world.ts";

const { annotation } = Karpenter.v1;
const nodes = "/api/v1/nodes";
const reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const idAt = (ago: number) => holdIdOf(after(new Date(), -ago), "theirs");

let world: RunWorld;
beforeEach(async () => {
  world = await RunWorld.open();
});
afterEach(() => world.close());

describe("a run that cannot start", () => {
  const denied = { status: { allowed: false } };
  const failToList = () =>
    world.cluster.fail({ kind: "status", status: 400, message: "no list" }, { path: nodes });

  it.each<[string, () => unknown, string]>([
    [
      "its socket cannot be made",
      () => mkdirSync(join(world.folder, "control.sock")),
      "a socket cannot be made",
    ],
    ["a right is missing", () => world.cluster.serve(reviews, denied), "get, list, watch, patch nodes"],
    ["the cluster is away", goAway, "the cluster at"],
    ["nodes cannot be listed", failToList, "no list"],
    ["a port is in use", () => () => Promise.reject(new Error("EADDRINUSE")), "EADDRINUSE"],
  ])("because %s has touched no node, and closes what it opened", async (_, prepare, message) => {
    world.joins("young");
    const second = prepare();
    const open: unknown[] = [];
    const server = async () => {
      open.push("server");
      return { stop: async () => void open.pop() };
    };

    const servers = [server, ...(typeof second === "function" ? [async () => second()] : [])];
    await expect(world.start({}, servers)).rejects.toThrow(message);

    expect(open).toEqual([]);
    expect(world.calls.filter((call) => /PATCH|WATCH/.test(call))).toEqual([]);
    RecordFile.open(join(world.folder, "record.sqlite"), new Date()).close();
  });

  it("warns of what an earlier run holds, and until when", async () => {
    await (await world.startHolding()).stop();
    world.log = new CollectedLog();
    goAway();
    await expect(world.start()).rejects.toThrow("the cluster at");
    expect(world.log.reported(stayHeld)).toEqual([{ nodes: "unknown", until: expect.any(Date), release }]);
  });
});

describe("a run that waits for another run", () => {
  it("is live and ready, and measures nothing that only a run at work can know", async () => {
    await (await world.startHolding()).stop();
    const spec = { holderIdentity: "another", leaseDurationSeconds: 30 };
    world.cluster.serve(`${leases}/${holderName}`, { metadata: { resourceVersion: "1" }, spec });
    const metrics = new PrometheusMetrics("prod");
    const clock = { now: () => after(new Date(), hours(1)) };
    const run = await world.prepare({ metrics, clock });
    run.measure();
    const starting = run.start();
    await expect.poll(() => world.log.lines.at(-1)?.sentence, soon).toContain("this one waits");
    run.measure();
    expect(metrics.text()).not.toMatch(/watch_connected|overdue_seconds|paused_seconds|last_pass/);
    expect([run.isLive, run.problems]).toEqual([true, []]);
    run.stopWaiting();
    expect(await starting).toBe(false);
  });

  it("takes over the nodes of the one that has ended, though its record does not know their marks", async () => {
    vi.spyOn(RunLease.prototype, "take").mockResolvedValue("taken over");
    world.joins("b", { ago: hours(24), holdId: idAt(minutes(1)) });
    await world.start();
    expect(world.held()).toEqual([]);
  });

  it("takes them over also where its first start after that one's end failed", async () => {
    vi.spyOn(RunLease.prototype, "take").mockResolvedValueOnce("taken over").mockResolvedValue("taken");
    world.joins("b", { ago: hours(24), holdId: idAt(minutes(1)) });
    world.cluster.fail({ kind: "status", status: 400 }, { path: "/api/v1/nodes" });
    await expect(world.start()).rejects.toThrow("400");
    await world.start();
    expect(world.held()).toEqual([]);
  });

  it("begins a new record where it has worked before that one", async () => {
    const first = await world.start();
    const ask = async (payload: object) =>
      (await runningHolder({ run: world.folder }, {})).ask({ ...payload });
    await ask({ do: "hold", for: "1h", reason: "before" });
    await first.stop();
    vi.spyOn(RunLease.prototype, "take").mockResolvedValue("taken over");
    await world.start();
    const { scopes } = Object(await ask({ do: "status" }));
    expect(scopes).toMatchObject([{ state: "none", requests: [] }]);
  });
});

it("says nothing of nodes that stay held where another run has taken over: that one releases them", async () => {
  const run = await world.startHolding();
  vi.spyOn(RunLease.prototype, "isLost", "get").mockReturnValue(true);
  await run.stop();
  expect([world.held(), world.log.reported(stayHeld)]).toEqual([["a"], []]);
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
      world.cluster.serve(path, JSON.parse(JSON.stringify(object)));
    }
  };
  const functions = () => accessManifest(annotation).map(({ object }) => object);

  it.each<[string, () => unknown, string]>([
    [
      "nodes carry marks of a hold that may be on, however long ago it began",
      () => world.joins("b", { ago: hours(24 * 30), holdId: idAt(hours(24 * 30)) }),
      "1 nodes carry",
    ],
    ["a deployed holder has rights", () => install(functions()), "a deployed holder"],
    ["a Pod has rights", () => install(rightsToRun(annotation, { subject: account })), "a holder in a Pod"],
  ])("refuses to start where %s, unless it is to take its place", async (_, prepare, because) => {
    prepare();
    const before = world.cluster.nodes();
    await expect(world.start()).rejects.toMatchObject({
      message: expect.stringMatching(new RegExp(`^${refusal}: .*${because}`)),
      remedy: expect.stringMatching(/^Stop the other holder.* --take-over/),
    });
    expect(world.cluster.nodes()).toEqual(before);
    expect(world.log.reported(stayHeld)).toEqual([]);
    await world.start({ takeOver: true });
  });

  it("does not say to release the marks of that one, by whichever annotation they are", async () => {
    world.joins("b");
    const metadata = { labels: { [holdLabel]: idAt(0) }, annotations: { "example.com/stay": "true" } };
    world.cluster.editNode("b", metadata, holderName);
    await expect(world.start()).rejects.toThrow(refusal);
    await expect(world.start({ takeOver: true })).rejects.toMatchObject({
      remedy: expect.stringMatching(/^Release them first/),
    });
    expect(world.log.reported("marks of holds that are not in this record are removed")).toEqual([]);
  });

  it("starts with rights of its own, and where it may not read whose they are", async () => {
    install(rightsToRun(annotation));
    await (await world.start()).stop();
    world.cluster.fail({ kind: "status", status: 403 }, { path: clusterRolePath });
    await world.start();
  });

  it("removes marks that are not in its record where it takes a place, and says so", async () => {
    world.joins("b", { ago: hours(24 * 9), holdId: idAt(hours(24 * 9)) });
    await world.start({ takeOver: true });
    expect(world.log.reported("marks of holds that are not in this record are removed")).toEqual([
      { nodes: 1 },
    ]);
    expect(world.held()).toEqual([]);
  });

  it("knows its own marks when it starts again, and removes those of a hold that expired meanwhile", async () => {
    await (await world.startHolding()).stop();
    await (await world.start()).stop();
    const [mark] = world.cluster.nodes();
    expect(world.held()).toEqual(["a"]);
    await (await world.start({ clock: { now: () => after(new Date(), minutes(11)) } })).stop();
    expect(world.held()).toEqual([]);
    world.joins("late", { ago: hours(1), holdId: parseNode(mark).labels?.[holdLabel] ?? "" });
    await world.start();
    expect(world.held()).not.toContain("late");
  });
});

describe("a run beside marks of an earlier one", () => {
  const other = { ...settings, holdAnnotation: "example.com/stay" };

  it("refuses another annotation than theirs, names the command that releases them, and works after that", async () => {
    await (await world.startHolding()).stop();
    await expect(world.start({ settings: other })).rejects.toMatchObject({
      message: `1 nodes are marked by the annotation ${annotation}, and these settings name example.com/stay`,
      remedy: `Release them first: ${release} --hold-annotation ${annotation}`,
    });
    expect(world.held()).toEqual(["a"]);
    await (await world.start()).stop({ release: true });
    await world.start({ settings: other });
    // A launch in the second of the release came before it.
    world.joins("b", { ago: -seconds(1) });
    await expect
      .poll(() => world.cluster.annotationHistory("b", "example.com/stay").at(-1), soon)
      .toBe("true");
    expect(world.cluster.annotationHistory("a", annotation)).toEqual([undefined, "true", undefined]);
  });
});

it("a cluster without Karpenter is named at the start", async () => {
  const warned = () => world.log.reported("Karpenter was not found in this cluster").length;
  await (await world.start()).stop();
  expect(warned()).toBe(1);
  world.cluster.serve("/apis/karpenter.sh/v1/nodeclaims", { metadata: {}, items: [] });
  await world.start();
  expect(warned()).toBe(1);
});
