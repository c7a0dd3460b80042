import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import type { KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { KubernetesError } from "../../lambda/kubernetes/error.ts";
import { KubernetesNodes } from "../../lambda/kubernetes/nodes.ts";
import { inFlight } from "../../lambda/kubernetes/transport.ts";
import { patchingWith, RunLease } from "../../local/run/run-lease.ts";
import { CollectedLog, CollectedMetrics } from "../../simulator/collected-log.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { aNode } from "../support/builders.ts";
import { until } from "../support/context.ts";
import { FakeLeases } from "./fake-leases.ts";

let api: FakeLeases;
/** How much time has passed, and how far somebody has set the clock. */
let passed: number;
let ahead: number;
let log: CollectedLog;
beforeEach(() => {
  [api, passed, ahead, log] = [new FakeLeases(), 0, 0, new CollectedLog()];
});
const clock = { now: () => new Date(noon.getTime() + passed + ahead) };
const never = new AbortController().signal;

/** A run that asks for the Lease. */
function leaseOf(identity: string, every = 10) {
  const lease = new RunLease({ api, clock, log, identity, every, elapsed: () => passed });
  onTestFinished(() => lease.release());
  const lost = vi.fn();
  return { lease, lost, take: (signal = never) => lease.take(signal, lost) };
}
const owner = () => api.stored?.spec.holderIdentity;
/** Marks so many nodes by patches that need this Lease. */
function mark(count: number, lease: RunLease, patch: KubernetesCaller["call"]) {
  const nodes = new KubernetesNodes({
    api: patchingWith(lease, { call: patch }),
    ...{ karpenter: "v1", annotation: Karpenter.v1.annotation, metrics: new CollectedMetrics() },
    nodePools: { only: [], except: [] },
  });
  const all = Array.from({ length: count }, (_, n) => aNode(`node-${n}`));
  const of = { do: "mark", holdId: holdId(1), scope: wholeCluster } as const;
  return nodes.change(
    all.map((node) => ({ ...of, node })),
    until(clock.now(), log),
  );
}
/** A Lease that was written by this run, or by no one. */
const writtenBy = (holderIdentity: string, resourceVersion = "7") => {
  const spec = { holderIdentity, ...(holderIdentity && { leaseDurationSeconds: 30 }) };
  api.stored = { metadata: { resourceVersion }, spec };
};

describe("the Lease of a run", () => {
  it("is one run's at a time: the second waits until the first gives it away", async () => {
    const [first, second] = [leaseOf("a"), leaseOf("b")];
    expect(await first.take()).toBe("taken");
    let taken: unknown;
    const taking = second.take().then((how) => {
      taken = how;
    });
    await expect
      .poll(() => log.reported("another run works on this cluster: this one waits until it ends").length)
      .toBe(1);
    expect([taken, owner()]).toEqual([undefined, "a"]);
    await first.lease.release();
    await taking;
    expect([taken, owner()]).toEqual(["taken over", "b"]);
    expect(first.lost).not.toHaveBeenCalled();
  });

  it("that may be another's by now lets no other node be changed: a run that slept in a change asks first", async () => {
    const first = leaseOf("a");
    await first.take();
    let patches = 0;
    const patch = async () => {
      // The process is stopped in the middle of the change, and another run begins.
      if (++patches < 20) return;
      writtenBy("b", "9");
      passed = 31_000;
    };
    for (const _ of [1, 2]) {
      const taken = "another run has taken over this cluster: this one changes no node";
      await expect(mark(100, first.lease, patch)).rejects.toThrow(taken);
      await expect.poll(() => first.lost.mock.calls.length).toBe(1);
    }
    expect(patches).toBeLessThan(20 + inFlight);
  });

  it("that cannot be read for so long lets no node be changed, and is asked for once by many patches", async () => {
    const first = leaseOf("a", 60_000);
    await first.take();
    passed = 31_000;
    api.refusal = 500;
    const patch = vi.fn();
    const isUnknown = "another run may have taken over this cluster: this one changes no node";
    await expect(mark(100, first.lease, patch)).rejects.toThrow(isUnknown);
    expect(patch).not.toHaveBeenCalled();
    api.refusal = undefined;
    const before = Number(api.stored?.metadata.resourceVersion);
    await mark(16, first.lease, patch);
    expect(patch).toHaveBeenCalledTimes(16);
    expect(Number(api.stored?.metadata.resourceVersion)).toBe(before + 1);
  });

  const cause = new KubernetesError("GET", 403, {});
  const notReady = new Error("it does not report itself ready", { cause });
  it("is waited for also while an API server that starts refuses everyone", async () => {
    writtenBy("a");
    const taking = leaseOf("b").take();
    await expect.poll(() => log.lines.length).toBe(1);
    api.refusal = notReady;
    await expect.poll(() => log.lines.length).toBeGreaterThan(2);
    writtenBy("", "8");
    api.refusal = undefined;
    expect([await taking, owner()]).toEqual(["taken over", "b"]);
  });

  it.each([403, notReady])(
    "is not needed to release nodes where the right to it is gone: %s",
    async (refusal) => {
      writtenBy("a");
      const { lease, take } = leaseOf("a");
      await take();
      passed = 31_000;
      api.refusal = refusal;
      await expect(lease.confirm()).resolves.toBeUndefined();
    },
  );

  it("is not taken as soon as an API server answers again that nobody could reach", async () => {
    writtenBy("a");
    const stop = new AbortController();
    const taking = leaseOf("b").take(stop.signal);
    await expect.poll(() => log.lines.length).toBe(1);
    api.refusal = new Error("it is away");
    passed = 31_000;
    await expect.poll(() => log.lines.length).toBeGreaterThan(2);
    api.refusal = undefined;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(owner()).toBe("a");
    stop.abort();
    expect(await taking).toBeUndefined();
  });

  it.each([
    [
      "when it was not renewed for its time by our own clock",
      { renewTime: "2001-01-01T00:00:00.000000Z" },
      31_000,
    ],
    [
      "within ten minutes, whatever duration somebody wrote",
      { leaseDurationSeconds: 1_000_000_000 },
      601_000,
    ],
  ])("is taken from a run that was killed %s", async (_, written, after) => {
    writtenBy("killed");
    Object.assign(api.stored?.spec ?? {}, written);
    const taking = leaseOf("b").take(AbortSignal.timeout(2_000));
    await expect.poll(() => log.lines.length).toBe(1);
    expect(owner()).toBe("killed");
    passed = after;
    expect([await taking, owner()]).toEqual(["taken", "b"]);
  });

  it.each([
    ["forward", 3_600_000],
    ["back", -3_600_000],
  ])("is waited for as long as ever where somebody sets the clock %s", async (_, change) => {
    writtenBy("killed");
    const stop = new AbortController();
    const taking = leaseOf("b").take(stop.signal);
    await expect.poll(() => log.lines.length).toBe(1);
    [ahead, passed] = [change, 20_000];
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(owner()).toBe("killed");
    passed = 31_000;
    await expect.poll(owner).toBe("b");
    stop.abort();
    await taking;
  });

  it.each([
    ["is set back", () => ([passed, ahead] = [31_000, -3_600_000])],
    ["alone counts the time in which the machine slept", () => (ahead = 31_000)],
  ])("is asked for before a change where it may be another's, also where the clock %s", async (_, change) => {
    const first = leaseOf("a", 60_000);
    await first.take();
    writtenBy("b", "9");
    change();
    await expect(first.lease.confirm()).rejects.toThrow("another run has taken over");
  });

  it("is at once that of a run on the same record, and renewed", async () => {
    writtenBy("a");
    await leaseOf("a").take();
    expect(log.lines).toEqual([]);
    await expect.poll(() => Number(api.stored?.metadata.resourceVersion)).toBeGreaterThan(9);
  });

  it("ends a run where another one has it now", async () => {
    const first = leaseOf("a");
    await first.take();
    writtenBy("b", "99");
    await expect.poll(() => first.lost.mock.calls.length).toBe(1);
    await first.lease.release();
    expect(owner()).toBe("b");
  });

  it.each<[string, FakeLeases["editBeforePut"]]>([
    ["its own renewal, whose answer was lost, has", (spec, sent) => Object.assign(spec, sent)],
    ["an edit of another has", (spec) => Object.assign(spec, { note: "edited" })],
  ])("stays that of a run where %s changed it", async (_, change) => {
    const first = leaseOf("a");
    await first.take();
    api.editBeforePut = change;
    await expect
      .poll(() => Number(api.stored?.metadata.resourceVersion), { interval: 5 })
      .toBeGreaterThan(52);
    expect([owner(), first.lost.mock.calls, log.lines]).toEqual(["a", [], []]);
  });

  it("is given away also where an edit comes between", async () => {
    const first = leaseOf("a");
    await first.take();
    api.editBeforePut = () => {};
    await first.lease.release();
    expect(owner()).toBe("");
  });

  it("goes to the one of two runs that takes it first", async () => {
    writtenBy("");
    api.editBeforePut = (spec) => Object.assign(spec, { holderIdentity: "b", leaseDurationSeconds: 30 });
    const stop = new AbortController();
    const taking = leaseOf("a").take(stop.signal);
    await expect.poll(() => log.lines.length).toBe(1);
    stop.abort();
    expect([await taking, owner()]).toEqual([undefined, "b"]);
  });

  it("warns once where a run that works loses the right to it", async () => {
    await leaseOf("a").take();
    const warnings = () =>
      log.lines.filter(({ sentence }) => sentence.includes("no right to a Lease")).length;
    for (const times of [1, 2]) {
      api.refusal = 403;
      await expect.poll(warnings).toBe(times);
      const version = api.stored?.metadata.resourceVersion;
      api.refusal = undefined;
      await expect.poll(() => api.stored?.metadata.resourceVersion !== version).toBe(true);
    }
    expect(warnings()).toBe(2);
  });

  it("is not waited for without the right to it, nor when the run is to stop", async () => {
    api.refusal = 403;
    expect(await leaseOf("a").take()).toBe("taken");
    expect(log.lines[0]?.sentence).toContain("no right to a Lease");
    api.refusal = undefined;
    await leaseOf("a").take();
    const stop = new AbortController();
    const waiting = leaseOf("b").take(stop.signal);
    stop.abort();
    expect(await waiting).toBeUndefined();
  });
});
