import { expect, it } from "vitest";
import type { Pods } from "../../lambda/core/ports.ts";
import type { FakePod } from "../../simulator/fake-kubernetes/pods.ts";
import { within } from "../support/context.ts";

/** A cluster to which the contract adds pods; the port reads at most two pods at once. */
export type PodsWorld = Readonly<{
  pods: Pods;
  add: (pod: FakePod) => Promise<void>;
  close: () => Promise<void>;
}>;

const daemon = { owner: { apiVersion: "apps/v1", kind: "DaemonSet" } };
const mirror = { annotations: { "kubernetes.io/config.mirror": "1f" } };

const cases: readonly [string, readonly Omit<FakePod, "name" | "node">[], "busy" | "empty"][] = [
  ["without a pod", [], "empty"],
  ["with a pod of its own", [{}], "busy"],
  ["with a pod that starts", [{ phase: "Pending" }], "busy"],
  ["with pods that have finished", [{ phase: "Succeeded" }, { phase: "Failed" }], "empty"],
  ["with a pod of a DaemonSet and a static pod", [daemon, mirror], "empty"],
  ["with a pod of a Job", [{ owner: { apiVersion: "batch/v1", kind: "Job" } }], "busy"],
  [
    "with a pod of another kind of DaemonSet, which Karpenter moves",
    [{ owner: { apiVersion: "apps.kruise.io/v1alpha1", kind: "DaemonSet" } }],
    "busy",
  ],
  ["with a pod of its own on the third page", [daemon, daemon, daemon, daemon, daemon, {}], "busy"],
  ["with three pages of pods that do not count", Array(6).fill(daemon), "empty"],
];

/** What a cluster reports of its nodes' pods. */
export function podsContract(open: () => Promise<PodsWorld>): void {
  it("busy are the nodes with a pod that is not a DaemonSet's, not static, and not finished", async (test) => {
    const { pods, add, close } = await open();
    test.onTestFinished(close);
    for (const [i, [, present]] of cases.entries())
      for (const [j, pod] of present.entries()) await add({ name: `p-${i}-${j}`, node: `n-${i}`, ...pod });
    const names = cases.map((_, i) => `n-${i}`);
    const busy = await pods.busyNodes([...names, "gone"], within(30_000));
    const found = cases.map(([what], i) => [what, "has" in busy && busy.has(`n-${i}`) ? "busy" : "empty"]);
    expect(found).toEqual(cases.map(([what, , expected]) => [what, expected]));
    expect("has" in busy && busy.has("gone")).toBe(false);
  });
}
