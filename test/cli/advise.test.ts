import { load } from "js-yaml";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { hours, minutes } from "../../lambda/core/duration.ts";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import { KubernetesClient } from "../../lambda/kubernetes/client.ts";
import { systemClock } from "../../lambda/system-clock.ts";
import { serveHttp } from "../../local/http-server.ts";
import { refuseUnreachable } from "../../local/run/rights.ts";
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
} from "./advise-cluster.ts";
import { at, churn, nth } from "./karpenter-lines.ts";

const disrupted = (message: string) =>
  anEvent("NodeClaim", "default-gone1", "DisruptionTerminating", message, minutes(20));

describe("advise with a kubeconfig and nothing else", () => {
  it("shows what Karpenter did by each source, what may happen when, what to change, and what costs least", async () => {
    // The log is read when it ends, or it would have silent days at its end.
    vi.useFakeTimers({ now: at(196), toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const names = [1, 2, 3].map((n) => nth(n, "default"));
    const { exit, output } = await adviseOn({
      nodePools: [aNodePool({ name: "default", disruption: { consolidateAfter: "30s" } })],
      nodeClaims: names.map((name, n) => aClaim({ name, age: hours(20 * (n + 1)) })),
      nodes: names.map((name) => aNode({ name })),
      pods: [karpentersPod(), aPod({ name: "web-1", node: names[0] ?? "" })],
      ...{ pdbs: [], jobs: [{ metadata: { name: "report", namespace: "default" } }] },
      events: [
        anEvent("NodeClaim", "default-gone1", "Launched", "Status condition transitioned", minutes(50)),
        disrupted("Disrupting NodeClaim: Underutilized"),
        anEvent("Pod", "report-x7k2p", "Evicted", "Evicted pod: Underutilized", minutes(19)),
        anEvent("Pod", "web-0", "Evicted", "Evicted pod: Underutilized", minutes(19)),
      ],
      log: churn(20).join("\n"),
      metrics: [
        'karpenter_nodeclaims_created_total{nodepool="default",reason="provisioned"} 210',
        'karpenter_nodeclaims_terminated_total{nodepool="default"} 198',
        'karpenter_nodeclaims_disrupted_total{nodepool="default",reason="empty"} 40',
        'karpenter_nodeclaims_disrupted_total{nodepool="default",reason="expired"} 3',
        'karpenter_pods_disruption_initiated_total{nodepool="default",reason="empty"} 7',
      ].join("\n"),
    });
    expect(exit).toBe(0);
    const lines = output.split("\n");
    expect(lines.filter((line) => !line.startsWith("    ") && line.length > 80)).toEqual([]);
    const steady = output.replace(/\S+\/kubeconfig /, "KUBECONFIG ");
    // A change is accepted with `npx vitest run test/cli/advise --update`, and read in the diff.
    await expect(`${steady}\n`).toMatchFileSnapshot("printed/advice.txt");
  });

  it("names the reason alone where version 1.0 adds what is done, and counts no NodeClaim without a name", async () => {
    const nameless = anEvent("NodeClaim", "", "Finalized", "Finalized karpenter.sh/termination", minutes(20));
    const events = [disrupted("Disrupting NodeClaim: Underutilized/replace"), nameless];
    const { output } = await adviseOn({ ...readable, events }, "-o", "json");
    expect(JSON.parse(output).happened[0]).toMatchObject({ removed: 1, byReason: { Underutilized: 1 } });
  });

  it("says of each part that it may not read that it is unknown, and never 0", async () => {
    const { exit, output } = await adviseOn({ pods: [karpentersPod()] });
    expect(exit).toBe(0);
    expect(output).toMatch(/^ {2}NodePools +no: no right \(403\)$/m);
    expect(output).toMatch(/^ {2}Karpenter's log +no: no right \(403\)$/m);
    expect(output).toContain("now: unknown");
    expect(output).toContain("before: unknown, because no source could be read");
    expect(output).toContain("unknown: no NodePool could be read");
    expect(output).toContain("nothing was found in what was read");
    expect(output).toContain("could not be read: NodePools,");
    expect(output).toContain("Nothing is ranked: only Karpenter's log has the pods");
    expect(output).not.toMatch(/ 0( |$)/m);
  });

  it("takes no events of Karpenter at all for unknown, because it may write them under another name", async () => {
    const metrics = "karpenter_nodeclaims_created_total 4";
    const { output } = await adviseOn({ ...readable, metrics });
    const row = (name: string) => new RegExp(`^ {2}${name} +(.*)$`, "m").exec(output)?.[1];
    expect(row("nodes launched")).toMatch(/^unknown +4$/);
    expect(row("pods evicted")).toMatch(/^unknown +0$/);
    expect(row(" +of Jobs, at least")).toMatch(/^unknown +unknown$/);
    // This version has no counter for pods.
    const older = await adviseOn({ ...readable, pods: [karpentersPod("1.13.0")], metrics });
    expect(older.output).toMatch(/^ {2}pods evicted +unknown +unknown$/m);
  });

  it("draws closed hours in the time zone that is asked for", async () => {
    const budgets = [{ nodes: "0", schedule: "0 0 * * *", duration: "12h" }];
    const nodePools = [aNodePool({ name: "default", disruption: { budgets } })];
    const { output } = await adviseOn({ ...readable, nodePools }, "--time-zone", "Asia/Kolkata");
    expect(output).toContain("in Asia/Kolkata");
    expect(output).toContain(`each day${"█".repeat(11)}${"·".repeat(24)}${"█".repeat(13)}  12h`);
  });

  it("mentions a holder that is at work there", async () => {
    const nodes = [aNode({ name: "a", labels: { [holdLabel]: "cluster-1" } })];
    const { output } = await adviseOn({ ...readable, nodes });
    expect(output).toContain("The holder is at work here (nodes with its label: 1)");
  });

  it("gives programs all of it under a name with a version", async () => {
    const served = { ...readable, log: churn(9).join("\n") };
    const { output, exit } = await adviseOn(served, "-o", "json", "--price", "2");
    expect(exit).toBe(0);
    const answer = JSON.parse(output);
    const yaml = await adviseOn(served, "-o", "yaml", "--price", "2");
    expect(Object(load(yaml.output)).happened[1]).toMatchObject({ source: "log", launched: 9 });
    expect(answer.schema).toBe("karpenter-node-holder/advise/v1");
    expect(Object.keys(answer)).toEqual([
      ...["schema", "cluster", "readAt", "timeZone", "sources", "present", "happened", "allowed", "findings"],
      ...["unread", "ranking", "advice", "notes"],
    ]);
    const byReason = { Underutilized: 9 };
    expect(answer.happened[1]).toMatchObject({ source: "log", launched: 9, removed: 9, byReason });
    expect(answer.happened[1]).not.toHaveProperty("jobsKilled");
    expect(answer.allowed[0].reasons.map(({ reason }: { reason: string }) => reason)).toEqual([
      ...["Empty", "Underutilized", "Drifted"],
    ]);
    for (const { money, saves } of answer.ranking.candidates) expect(money).toBeCloseTo(2 * saves);
    expect(answer.ranking.limits).toContain("takes the next launch");
    expect(answer.advice.commands.length).toBeGreaterThan(0);
  });

  it("shows names as plain lines, whatever they contain", async () => {
    const annotations = { "karpenter.sh/do-not-disrupt": "1h" };
    const nodes = [aNode({ name: "a\u001b[32m\nYou need the holder", annotations })];
    const { output } = await adviseOn({ ...readable, nodes });
    expect(output).toContain("node a You need the holder");
    expect(output).not.toContain("\u001b");
  });

  it("names the login where the cluster refuses it, and not the network", async () => {
    const { kubeconfig, server } = await clusterWith(readable);
    server.fail({ kind: "status", status: 401 }, {}, 9);
    const { exit, reported } = await advise("--kubeconfig", kubeconfig);
    await server.stop();
    expect(exit).toBe(1);
    expect(reported).toMatch(/^error: The cluster refused the login \(401\)/);
  });

  it("goes on where a cluster shows its users neither its version nor whether it is ready", async () => {
    const server = await serveHttp((_, response) => {
      response.writeHead(403).end(JSON.stringify({ kind: "Status", reason: "Forbidden", message: "no" }));
    });
    onTestFinished(() => server.stop());
    const login = { access: async () => ({ server: server.url, tls: {}, headers: {} }), refresh: () => {} };
    const api = new KubernetesClient({ login, clock: systemClock, metrics: { add: () => {} } });
    onTestFinished(() => api.close());
    await expect(refuseUnreachable(api, server.url)).resolves.toBeUndefined();
  });

  it("fails at once where the cluster cannot be reached", async () => {
    const { kubeconfig, server } = await clusterWith(readable);
    onTestFinished(() => server.stop());
    server.fail({ kind: "reset" }, { path: "/version" });
    const { exit, output, reported } = await advise("--kubeconfig", kubeconfig, "--time-zone", "UTC");
    expect({ exit, output }).toEqual({ exit: 1, output: "" });
    expect(reported).toMatch(
      /^error: the cluster at http:\S+ cannot be reached: .+\nCheck the kubeconfig's /,
    );
  });
});
