import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import { type InvocationContext, invocation } from "../../lambda/invocation.ts";
import { KubernetesClient } from "../../lambda/kubernetes/client.ts";
import { KubernetesNodes } from "../../lambda/kubernetes/nodes.ts";
import { Telemetry } from "../../lambda/telemetry/powertools.ts";
import { karpentersLabels } from "../../simulator/fake-ec2.ts";
import { FakeKubernetesServer } from "../../simulator/fake-kubernetes/fake-kubernetes-server.ts";
import type { Fault } from "../../simulator/fake-kubernetes/faults.ts";
import { holdId } from "../../simulator/hold-ids.ts";

const clock = { now: () => new Date() };
const context: InvocationContext = { awsRequestId: "request-1", getRemainingTimeInMillis: () => 60_000 };

describe("what is logged when the cluster fails", () => {
  const lines: string[] = [];
  let cluster: FakeKubernetesServer;
  beforeEach(async () => {
    // Lets the library write to the console that a test can read.
    vi.stubEnv("POWERTOOLS_DEV", "true");
    for (const method of ["log", "info", "warn", "error", "debug"] as const) {
      vi.spyOn(console, method).mockImplementation((...said) => void lines.push(said.map(String).join(" ")));
    }
    cluster = await FakeKubernetesServer.start();
    cluster.addNode({ name: "a", labels: karpentersLabels("v1", "default") });
  });
  afterEach(async () => {
    await cluster.stop();
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    lines.length = 0;
  });

  it.each<[string, Fault, string]>([
    ["a refused login", { kind: "status", status: 401, message: "Unauthorized" }, "GET"],
    ["a list that is forbidden", { kind: "status", status: 403, message: "forbidden" }, "GET"],
    ["a list that fails", { kind: "status", status: 500, message: "broken" }, "GET"],
    ["a list whose connection is cut", { kind: "reset" }, "GET"],
    ["a patch that is forbidden", { kind: "status", status: 403, message: "forbidden" }, "PATCH"],
    ["a patch whose connection is cut", { kind: "reset" }, "PATCH"],
  ])("never holds the token: %s", async (_what, fault, method) => {
    cluster.fail(fault, { method }, 99);
    const telemetry = new Telemetry("prod");
    const { metrics } = telemetry;
    const access = cluster.access();
    const login = { access: async () => access, refresh: () => {} };
    const api = new KubernetesClient({ login, clock, metrics, sleep: async () => {} });
    const { annotation } = Karpenter.v1;
    const nodePools = { only: [], except: [] };
    const about = { api, karpenter: "v1" as const };
    const nodes = new KubernetesNodes({ ...about, annotation, nodePools, clock, metrics });
    const handler = invocation(telemetry, clock, (_event, context) =>
      nodes.mark({ scope: "cluster", holdId: holdId(1) }, context),
    );

    await handler({}, context).catch(() => undefined);
    await api.close();

    const reported = lines.join("\n");
    expect(reported).toMatch(/"level":\s*"ERROR"/);
    expect(reported).not.toContain(cluster.token);
    expect(reported.toLowerCase()).not.toContain("bearer");
  });
});
