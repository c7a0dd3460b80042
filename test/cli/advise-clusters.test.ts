import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { after, minutes } from "../../lambda/core/duration.ts";
import {
  aClaim,
  advise,
  adviseOn,
  aNode,
  aNodePool,
  anEvent,
  aPod,
  clusterWith,
  karpentersPod,
  readable,
  type Served,
} from "./advise-cluster.ts";
import { churn } from "./karpenter-lines.ts";

const asJson = async (served: Served) => {
  const { exit, output } = await adviseOn(served, "-o", "json");
  return { exit, answer: JSON.parse(output) };
};

const ofAutoMode = (name: string) =>
  aNodePool({ name, nodeClass: "eks.amazonaws.com", disruption: { consolidateAfter: "30s" } });

describe("advise on a cluster", () => {
  it("of which only the nodes may be read, shows what is known of nodes alone", async () => {
    const annotations = { "karpenter.sh/do-not-disrupt": "true" };
    const nodes = [aNode({ name: "a", annotations }), aNode({ name: "b" })];
    const { exit, answer } = await asJson({ nodes });
    expect(exit).toBe(3);
    expect(answer).toMatchObject({ present: { nodes: 2 }, happened: [], allowed: [] });
    expect(answer.findings).toMatchObject([{ rule: "nobody-can-disrupt", object: "node a" }]);
    // Typed as it is, it must not change a node of the kubeconfig's current cluster.
    expect(answer.findings[0].change).toMatch(/^kubectl --kubeconfig \S+ annotate node a /);
    expect(answer.unread).toEqual(["NodePools", "NodeClaims", "pods", "PodDisruptionBudgets"]);
    expect(answer.advice.verdict).toBe("unknown");
    expect((await adviseOn({ nodes })).output).toContain("now: 2 nodes, median age 1h, 0 launched");
  });

  it("waits for a login that asks a person, before the time for its answers begins", async () => {
    const { server, kubeconfig } = await clusterWith(readable);
    const config = JSON.parse(readFileSync(kubeconfig, "utf8"));
    const credential = { apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: {} };
    const script = `sleep 0.5; echo '${JSON.stringify(credential)}'`;
    const exec = { apiVersion: credential.apiVersion, command: "sh", args: ["-c", script] };
    writeFileSync(kubeconfig, JSON.stringify({ ...config, users: [{ name: "fake", user: { exec } }] }));
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    setTimeout(() => vi.setSystemTime(after(new Date(), minutes(5))), 100);
    const { exit, reported } = await advise("--kubeconfig", kubeconfig);
    await server.stop();
    expect({ exit, reported }).toEqual({ exit: 0, reported: "" });
  });

  it.each([
    [[], "this cluster has no Karpenter: its API server does not know karpenter.sh"],
    [
      ["v1beta1", "v1alpha5"],
      "this cluster's Karpenter is older than 1.0: of karpenter.sh it has only v1beta1, v1alpha5",
    ],
  ])("with versions %j of Karpenter's API, fails and says why", async (versions, why) => {
    const { nodePools: _, nodeClaims: __, ...others } = readable;
    const { exit, output, reported } = await adviseOn({ ...others, versions });
    expect({ exit, output }).toEqual({ exit: 1, output: "" });
    expect(reported).toContain(`error: ${why}\n`);
  });

  it("in EKS Auto Mode, reads its events, and says why there is no log", async () => {
    const removed = anEvent(
      ...(["NodeClaim", "general-purpose-1", "DisruptionTerminating"] as const),
      ...(["Disrupting NodeClaim: Empty", minutes(20)] as const),
    );
    const served = {
      ...{ ...readable, pods: [aPod({ name: "web", node: "i-1" })], eventsOfAutoMode: [removed] },
      nodePools: [ofAutoMode("general-purpose"), ofAutoMode("system")],
      nodeClaims: [aClaim({ name: "general-purpose-2", pool: "general-purpose" })],
      nodes: [aNode({ name: "i-1", pool: "general-purpose" })],
    };
    const { exit, answer } = await asJson(served);
    expect(exit).toBe(0);
    expect(answer.happened).toMatchObject([{ source: "events", removed: 1, byReason: { Empty: 1 } }]);
    const outside = "EKS Auto Mode runs Karpenter outside of the cluster";
    expect(answer.sources).toContainEqual({ name: "Karpenter's log", read: `no: ${outside}` });
    expect(answer.advice.because).toContain(`${outside}, and only its log has the pods`);
    expect(answer.advice.because).toContain('"run --observe" shows what would be held');
  });

  it("in EKS Auto Mode, tries no setting of the NodePools that AWS keeps as they are", async () => {
    const tried = async (name: string) => {
      const log = churn(20).join("\n");
      const { answer } = await asJson({ ...readable, log, nodePools: [ofAutoMode(name)] });
      return answer.ranking.candidates.map((one: { name: string }) => one.name).toSorted();
    };
    const holders = ["as it is", "hold=20m", "hold=auto"];
    expect(await tried("general-purpose")).toEqual(holders);
    expect(await tried("own")).toEqual(
      [...holders, "WhenEmpty", "budget 6 of 30 min", "budget 6 of 60 min", "consolidateAfter 5m"].toSorted(),
    );
  });

  it("whose schedules Karpenter cannot read, shows that it removes nothing, and what to change", async () => {
    const budgets = ["0 9 * * 7", "61 9 * * 1"].map((schedule) => ({
      ...{ nodes: "10%", schedule, duration: "8h" },
    }));
    const nodePools = [aNodePool({ name: "a", disruption: { budgets } })];
    const { exit, output } = await adviseOn({ ...readable, nodePools });
    expect(exit).toBe(3);
    expect(output).toContain("Drifted: never: a budget's schedule cannot be read");
    expect(output.match(/NodePool a {2}schedule-unreadable/g)).toHaveLength(2);
    // A budget that Karpenter cannot read opens no window.
    expect(output).not.toContain("window-without-base");
    expect(output).toContain("Nothing is ranked: Karpenter consolidates no node, because it cannot read");
    expect(output).not.toContain("You do not need the holder");
  });

  it("whose NodePools are paused by a budget of 0, needs no holder", async () => {
    const nodePools = [aNodePool({ name: "a", disruption: { budgets: [{ nodes: "0" }] } })];
    const { exit, answer } = await asJson({ ...readable, nodePools });
    expect(exit).toBe(0);
    expect(answer.advice).toMatchObject({
      verdict: "nothing",
      because: expect.stringContaining("no NodePool lets Karpenter consolidate in the next seven days"),
    });
  });

  it("without a NodePool, says so; without the right to list them, that they could not be read", async () => {
    const log = churn(20).join("\n");
    const none = await adviseOn({ ...readable, log, nodePools: [] });
    expect(none.output).toContain("  there is no NodePool, so Karpenter launches no node");
    expect(none.output).toContain("Karpenter's own settings were not tried, because there is no NodePool.");
    const { nodePools: _, ...others } = readable;
    const refused = await adviseOn({ ...others, log });
    expect(refused.output).toContain("  unknown: no NodePool could be read");
    expect(refused.output.replaceAll(/\s+/g, " ")).toContain(
      "were not tried, because no NodePool could be read: no right (403).",
    );
  });

  it("with a static NodePool, finds nothing in settings that Karpenter ignores there", async () => {
    const disruption = { consolidationPolicy: "WhenEmpty", consolidateAfter: "10m" };
    const nodes = ["a", "b", "c"].map((name) => aNode({ name }));
    const on = (replicas: Readonly<{ replicas?: number }>) =>
      adviseOn({ ...readable, nodes, nodePools: [aNodePool({ name: "default", disruption, ...replicas })] });
    const fixed = await on({ replicas: 3 });
    expect(fixed.exit).toBe(0);
    expect(fixed.output).toContain("default  replicas 3, expireAfter 720h");
    expect((await on({})).output).toMatch(/long-consolidate-after[\s\S]*when-empty-wastes/);
  });

  it("of thousands of pods and NodeClaims, reads page by page in a few seconds of CPU time", async () => {
    const many = <T>(count: number, one: (n: number) => T) => Array.from({ length: count }, (_, n) => one(n));
    const begin = process.cpuUsage();
    const { exit, answer } = await asJson({
      ...readable,
      nodePools: many(20, (n) => aNodePool({ name: `pool-${n}` })),
      nodeClaims: many(1_000, (n) => aClaim({ name: `claim-${n}`, pool: `pool-${n % 20}` })),
      nodes: many(1_000, (n) => aNode({ name: `node-${n}`, pool: `pool-${n % 20}` })),
      pods: [karpentersPod(), ...many(10_000, (n) => aPod({ name: `pod-${n}`, node: `node-${n % 1_000}` }))],
    });
    expect(exit).toBe(0);
    const readOf = (name: string) => answer.sources.find((one: { name: string }) => one.name === name).read;
    expect(["pods", "nodes", "NodeClaims"].map(readOf)).toEqual(["10001", "1000", "1000"]);
    expect(answer.allowed).toHaveLength(20);
    expect(process.cpuUsage(begin).user / 1_000_000).toBeLessThan(10);
  });
});
