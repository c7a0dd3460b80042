import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { type ReadPod, readEach, readLog, readMetrics, versionOf } from "../../cli/advise/karpenter-pods.ts";
import { podWithNameSchema } from "../../cli/advise/objects.ts";
import type { KubernetesCall } from "../../lambda/kubernetes/client.ts";

const startedAt = (minute: number) => ({ running: { startedAt: `2026-11-21T12:0${minute}:00Z` } });
const waiting = { waiting: { reason: "ImagePullBackOff" } };

const aController = (name: string, states: Readonly<Record<string, object>>) =>
  v.parse(podWithNameSchema, {
    metadata: { name, namespace: "karpenter" },
    spec: {},
    status: { containerStatuses: Object.entries(states).map(([name, state]) => ({ name, state })) },
  });
const pieces: number[] = [];
const context = { deadline: new Date(), onText: (length: number) => void pieces.push(length) };

const leads = "successfully acquired lease karpenter/karpenter-leader-election";

/** How a pod is read by these answers, each to a path and a container; without an answer the kubelet is away. */
const reading = (read: ReadPod, answer: (path: string, container: string) => string | undefined) => {
  const call = async ({ path, query, onText }: KubernetesCall) => {
    const text = answer(path.replace("/api/v1/namespaces/karpenter/pods/", ""), String(query?.container));
    if (text === undefined) throw new Error("the kubelet is away");
    onText?.(text.length);
    return text;
  };
  return (pod: Parameters<ReadPod>[1]) => read({ call }, pod, context);
};
/** A log that says what was asked for. */
const logOf = (path: string, container: string) => `${path} ${container} ${leads}`;

describe("of several replicas of Karpenter", () => {
  const [a, b] = [1, 2].map((n) => aController(`karpenter-${n}`, { controller: startedAt(n) }));
  if (!a || !b) throw new Error("no replicas");

  it("reads those that run", async () => {
    const starting = aController("karpenter-3", { controller: waiting });
    const unscheduled = aController("karpenter-4", {});
    const { text } = await readEach([starting, a, unscheduled], reading(readLog, logOf));
    expect(text).toBe(`karpenter-1/log controller ${leads}`);
    await expect(readEach([starting], reading(readLog, logOf))).rejects.toThrow("no pod of Karpenter is");
  });

  it("reads the others where one cannot be read, and fails where none can", async () => {
    const ofSecond = (path: string) => (path.includes("karpenter-1") ? undefined : path);
    expect(await readEach([a, b], reading(readMetrics, ofSecond))).toEqual({
      text: "karpenter-2:8080/proxy/metrics",
      since: new Date("2026-11-21T12:02:00Z"),
    });
    const away = reading(readLog, () => undefined);
    await expect(readEach([a, b], away)).rejects.toThrow("the kubelet is away");
  });
});

describe("of a replica that waits to lead", () => {
  const replicas = ["leader", "standby"].map((name) => aController(name, { controller: startedAt(1) }));
  const reads = (read: ReadPod, texts: Readonly<Record<string, readonly string[]>>) =>
    readEach(
      replicas,
      reading(read, (path) => texts[path.split(/[/:]/)[0] ?? ""]?.join("\n")),
    );

  it("reads no log, and says why that of the leader cannot be read", async () => {
    expect(await reads(readLog, { leader: [leads], standby: ["starting"] })).toEqual({ text: leads });
    await expect(reads(readLog, { standby: ["starting"] })).rejects.toThrow("the kubelet is away");
  });

  it("reads no counters", async () => {
    const status = (leads: number) => `leader_election_master_status{name="karpenter"} ${leads}`;
    const standby = [status(0), "more"];
    const { text } = await reads(readMetrics, { leader: [status(1)], standby });
    expect(text).toBe(status(1));
    await expect(reads(readMetrics, { leader: standby, standby })).rejects.toThrow(
      "no replica of Karpenter leads",
    );
  });
});

it("reads the controller's log, whatever sidecars the chart has", async () => {
  const pod = aController("karpenter-1", { "aa-proxy": startedAt(1), controller: startedAt(2) });
  expect((await readEach([pod], reading(readLog, logOf))).text).toBe(`karpenter-1/log controller ${leads}`);
  const { since } = await readEach([pod], reading(readMetrics, logOf));
  expect(since).toEqual(new Date("2026-11-21T12:02:00Z"));
  expect(pieces).not.toEqual([]);
  const renamed = aController("karpenter-1", { karpenter: startedAt(1) });
  const { text } = await readEach([renamed], reading(readLog, logOf));
  expect(text).toBe(`karpenter-1/log karpenter ${leads}`);
});

it("reads the version from the image that the pod asks for, because the status may have only a digest", () => {
  const image = "public.ecr.aws/karpenter/controller";
  const versionIn = (wanted: string, pulled: string) =>
    versionOf([
      v.parse(podWithNameSchema, {
        metadata: { name: "karpenter-1" },
        spec: { containers: [{ name: "controller", image: wanted }] },
        status: { containerStatuses: [{ name: "controller", image: pulled }] },
      }),
    ]);
  expect(versionIn(`${image}:1.13.0@sha256:0a1b`, `${image}@sha256:0a1b`)).toBe(13);
  expect(versionIn("mirror/controller:latest", `${image}:1.12.1`)).toBe(12);
});
