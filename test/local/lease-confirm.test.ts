import { beforeEach, describe, expect, it, vi } from "vitest";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import type { KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { KubernetesError } from "../../lambda/kubernetes/error.ts";
import { KubernetesNodes } from "../../lambda/kubernetes/nodes.ts";
import { inFlight } from "../../lambda/kubernetes/transport.ts";
import { patchingWith, type RunLease } from "../../local/run/run-lease.ts";
import { CollectedMetrics } from "../../simulator/collected-log.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { aNode } from "../support/builders.ts";
import { until } from "../support/context.ts";
import { leaseWorld } from "./lease-world.ts";

let { api, log, time, clock, leaseOf, writtenBy } = leaseWorld();
beforeEach(() => {
  ({ api, log, time, clock, leaseOf, writtenBy } = leaseWorld());
});

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
const notReady = new Error("it does not report itself ready", { cause: new KubernetesError("GET", 403, {}) });

describe("before a change of nodes, the Lease", () => {
  it("that may be another's by now lets no other node be changed: a run that slept in a change asks first", async () => {
    const first = leaseOf("a");
    await first.take();
    let patches = 0;
    const patch = async () => {
      // The process is stopped in the middle of the change, and another run begins.
      if (++patches < 20) return;
      writtenBy("b", "9");
      time.passed = 31_000;
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
    time.passed = 31_000;
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

  it.each([403, notReady])(
    "is not needed to release nodes where the right to it is gone: %s",
    async (refusal) => {
      writtenBy("a");
      const { lease, take } = leaseOf("a");
      await take();
      time.passed = 31_000;
      api.refusal = refusal;
      await expect(lease.confirm()).resolves.toBeUndefined();
    },
  );

  it.each([
    ["is set back", () => ([time.passed, time.ahead] = [31_000, -3_600_000])],
    ["alone counts the time in which the machine slept", () => (time.ahead = 31_000)],
  ])("is asked for where it may be another's, also where the clock %s", async (_, change) => {
    const first = leaseOf("a", 60_000);
    await first.take();
    writtenBy("b", "9");
    change();
    await expect(first.lease.confirm()).rejects.toThrow("another run has taken over");
  });
});
