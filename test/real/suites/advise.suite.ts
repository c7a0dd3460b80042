import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commandLine } from "../../../cli/command-line.ts";
import { CollectedTerminal } from "../../support/collected-terminal.ts";
import { until } from "../engines/processes.ts";
import { World } from "../worlds/world.ts";

/** The rights that the documents name, and no other. */
const rights = [
  ...[
    { apiGroups: [""], resources: ["nodes", "pods", "events"], verbs: ["get", "list"] },
    { apiGroups: ["karpenter.sh"], resources: ["nodepools", "nodeclaims"], verbs: ["get", "list"] },
  ],
  { apiGroups: ["batch", "policy"], resources: ["jobs", "poddisruptionbudgets"], verbs: ["get", "list"] },
];
const rbac = { apiVersion: "rbac.authorization.k8s.io/v1", metadata: { name: "look" } };
const group = { kind: "Group", name: "karpenter-node-holder", apiGroup: "rbac.authorization.k8s.io" };

describe(`advise on Karpenter ${process.env.KARPENTER_VERSION ?? "newest"}`, () => {
  let world: World;

  beforeAll(async () => {
    world = await World.start(process.env.KARPENTER_VERSION);
    await world.apply(
      { ...rbac, kind: "ClusterRole", rules: rights },
      {
        ...{ ...rbac, kind: "ClusterRoleBinding", subjects: [group] },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "look" },
      },
    );
    await world.pool({
      name: "default",
      budgets: [{ nodes: "100%" }, { nodes: "0", schedule: "0 3 1 1 *", duration: "1m" }],
    });
  });
  afterAll(async () => world?.stop());

  const advise = async () => {
    const terminal = new CollectedTerminal();
    const kubeconfig = world.plane.kubeconfig("holder");
    const log = join(world.plane.folder, "karpenter.log");
    const words = ["--kubeconfig", kubeconfig, "--log", log, "--time-zone", "UTC", "-o", "json"];
    const exit = await commandLine(["advise", ...words], terminal);
    return { exit, answer: JSON.parse(terminal.output), reported: terminal.reported };
  };

  it("counts by events and by the log what Karpenter launched, removed and evicted, with rights to get and list alone", async () => {
    await world.scale("work", { replicas: 3, spread: true });
    await world.untilReady(3);
    // Beside the large pods each node has room for one, and without them one node has room for all.
    await world.scale("small", { replicas: 3, cpu: "500m" });
    await world.untilPodsRun();
    await world.scale("work", { replicas: 0, spread: true });
    await world.untilReady(1);
    await world.scale("small", { replicas: 0, cpu: "500m" });
    await world.untilReady(0);

    const counted = async () => {
      const { happened } = (await advise()).answer;
      return happened[0].removed >= 3 && happened[1].removed >= 3;
    };
    await until("the last events to arrive", counted);
    const { exit, answer, reported } = await advise();
    expect({ exit, reported }).toEqual({ exit: 0, reported: "" });
    const [events, log] = answer.happened;
    expect(answer.sources.filter(({ read }: { read: string }) => read.startsWith("no: no right"))).toEqual(
      [],
    );
    expect(events).toMatchObject({ source: "events", jobsKilled: 0 });
    // A pod that cannot be placed for a moment may cost a node more.
    for (const { launched, removed } of [events, log]) {
      expect(launched).toBeGreaterThanOrEqual(3);
      expect(removed, JSON.stringify(answer.happened)).toBe(launched);
    }
    expect(log.launched).toBe(events.launched);
    expect(log.byReason).toEqual(events.byReason);
    expect(log.evicted).toBeGreaterThan(0);
    expect(events.evicted).toBeGreaterThan(0);
    expect(log.lifetime).toBeGreaterThan(0);

    expect(answer.allowed[0]).toMatchObject({ nodePool: "default" });
    expect(answer.findings).toEqual([]);
    expect(answer.ranking.candidates.map(({ name }: { name: string }) => name)).toContain("hold=auto");
  });
});
