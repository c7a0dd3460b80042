import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { BareLoop } from "../../../lab/bench/bare-loop.ts";
import { apiServerOf, createNodes, nodeNames } from "../../../lab/bench/nodes-on-plane.ts";
import { holdLabel, Karpenter } from "../../../lambda/core/marks/keys.ts";
import type { KubernetesCall, KubernetesCaller } from "../../../lambda/kubernetes/client.ts";
import { isStatus } from "../../../lambda/kubernetes/error.ts";
import { KubernetesNodes } from "../../../lambda/kubernetes/nodes.ts";
import type { ClusterAccess } from "../../../lambda/kubernetes/transport.ts";
import { systemClock as clock } from "../../../lambda/system-clock.ts";
import { kubeconfigLogin } from "../../../local/run/kubeconfig-login.ts";
import { NodeWatch } from "../../../local/run/node-watch.ts";
import { CollectedLog, CollectedMetrics } from "../../../simulator/collected-log.ts";
import { clientOf, knownAccess } from "../../contracts/cluster-nodes.ts";
import { markListed, releaseListed } from "../../contracts/nodes-world.ts";
import { within } from "../../support/context.ts";
import { ControlPlane } from "../engines/control-plane.ts";
import { patience, until } from "../engines/processes.ts";
import { applyRights } from "../worlds/holder-client.ts";

const { annotation, poolLabel } = Karpenter.v1;
const hold = "20260131t093000-many00";
const count = 1_200;
const pages = Math.ceil(count / 250);
const soon = () => within(patience);
const isNextPage = ({ method, query }: KubernetesCall) => method === "GET" && query?.continue !== undefined;

describe(`a real API server with ${count} nodes`, () => {
  let plane: ControlPlane;
  let access: ClusterAccess;

  beforeAll(async () => {
    plane = await ControlPlane.start();
    await applyRights(plane, "run");
    const loop = new BareLoop(apiServerOf(plane.config("admin")), 16);
    await createNodes(loop, nodeNames(count));
    loop.close();
    access = await kubeconfigLogin(plane.config("holder")).access();
  });
  afterAll(async () => plane?.stop());
  afterEach(async () => {
    const { nodes } = holder();
    await change(nodes, "release");
    expect(await marked()).toBe(0);
  });

  /** The holder's adapter with only its rights; counts its calls and expired lists, and runs `before` each call. */
  function holder(before: (call: KubernetesCall) => Promise<void> = async () => {}) {
    const calls: KubernetesCall[] = [];
    const metrics = new CollectedMetrics();
    const client = clientOf(access, metrics);
    onTestFinished(() => client.close());
    let expired = 0;
    const api: KubernetesCaller = {
      call: async (call, context) => {
        await before(call);
        calls.push(call);
        return client.call(call, context).catch((error: unknown) => {
          if (isStatus(error, 410)) expired += 1;
          throw error;
        });
      },
    };
    const nodePools = { only: [], except: [] };
    const settings = { karpenter: "v1" as const, annotation, nodePools };
    const nodes = new KubernetesNodes({ ...settings, api, metrics });
    const lists = () =>
      calls.filter(({ path, method }) => method === "GET" && path === "/api/v1/nodes").length;
    return { api, nodes, metrics, lists, expired: () => expired };
  }

  /** Lists all nodes and changes them, as a pass does. */
  const change = (nodes: KubernetesNodes, what: "mark" | "release") =>
    ({ mark: markListed, release: releaseListed })[what](nodes, { holdId: hold, context: soon() });

  /** The number of marked nodes, read by the administrator. */
  async function marked(): Promise<number> {
    const names = await plane.kubectl(["get", "nodes", "--selector", holdLabel, "--output", "name"]);
    return names.split("\n").filter(Boolean).length;
  }

  /** Compacts the API server's history once, in the middle of a list. */
  function compactDuringList() {
    let isDone = false;
    return async (call: KubernetesCall) => {
      if (isDone || !isNextPage(call)) return;
      isDone = true;
      await plane.crashAndCompact();
    };
  }

  it("marks all of them although a list expires in the middle", async () => {
    const { nodes, expired } = holder(compactDuringList());

    const { failed, left } = await change(nodes, "mark");

    expect(expired()).toBe(1);
    expect(left).toBe(false);
    // Calls that were open during the restart may have failed, or only their answers.
    expect(failed).toBeLessThanOrEqual(16);
    expect(await marked()).toBeGreaterThanOrEqual(count - failed);
    expect(await change(nodes, "mark")).toMatchObject({ failed: 0, left: false });
    expect(await marked()).toBe(count);
  });

  it.each(["mark", "release"] as const)("loses nothing where it dies in the middle: %s", async (what) => {
    if (what === "release") await change(holder().nodes, "mark");
    let patches = 0;
    const { nodes } = holder(async ({ method }) => {
      if (method === "PATCH" && ++patches === count / 2) await plane.crashAndCompact();
    });

    const { failed, left } = await change(nodes, what);

    // As above.
    expect([left, failed <= 16]).toEqual([false, true]);
    expect(await change(nodes, what)).toMatchObject({ failed: 0, left: false });
    expect(await marked()).toBe(what === "mark" ? count : 0);
  });

  it("marks all of them although priority and fairness rejects most calls", async () => {
    const file = join(plane.folder, "narrow.json");
    writeFileSync(file, JSON.stringify(narrow));
    await plane.kubectl(["apply", "--filename", file]);
    onTestFinished(async () => void (await plane.kubectl(["delete", "--filename", file])));
    const { nodes, metrics } = holder();

    const { failed, left } = await change(nodes, "mark");

    expect(metrics.total("ApiThrottled")).toBeGreaterThan(0);
    expect([failed, left]).toEqual([0, false]);
    expect(await marked()).toBe(count);
  });

  it("a watch reports each node once, and lists again after a crash, because the history is gone", async () => {
    const { api, lists } = holder();
    const log = new CollectedLog();
    const changes: string[] = [];
    const watch = new NodeWatch({
      api,
      login: knownAccess(access),
      selector: poolLabel,
      clock,
      log,
      onChange: ({ before, now }) => {
        if (!before || !now) changes.push(`${now ? "joined" : "gone"} ${(now ?? before)?.name}`);
      },
    });
    onTestFinished(() => watch.stop());
    await watch.start();
    expect(changes.toSorted()).toEqual(nodeNames(count).map((name) => `joined ${name}`));
    expect(lists()).toBe(pages);
    changes.length = 0;

    await plane.crashAndCompact();
    const [first = ""] = nodeNames(1);
    await plane.kubectl(["delete", "node", first]);
    const loop = new BareLoop(apiServerOf(plane.config("admin")), 1);
    await createNodes(loop, ["node-new"]);
    loop.close();

    await until("the changes to be reported", async () => changes.length >= 2);
    expect(changes.toSorted()).toEqual([`gone ${first}`, "joined node-new"]);
    expect(watch.nodes.size).toBe(count);
    expect(lists()).toBe(2 * pages);
    expect(log.reported("the watch broke and connects again").length).toBeGreaterThan(0);
  });
});

/** A flow schema that allows three calls of the holder at a time, and rejects others. */
const narrow = {
  apiVersion: "v1",
  kind: "List",
  items: [
    {
      apiVersion: "flowcontrol.apiserver.k8s.io/v1",
      kind: "PriorityLevelConfiguration",
      metadata: { name: "narrow" },
      spec: {
        type: "Limited",
        limited: {
          nominalConcurrencyShares: 1,
          lendablePercent: 0,
          borrowingLimitPercent: 0,
          limitResponse: { type: "Reject" },
        },
      },
    },
    {
      apiVersion: "flowcontrol.apiserver.k8s.io/v1",
      kind: "FlowSchema",
      metadata: { name: "narrow" },
      spec: {
        matchingPrecedence: 100,
        priorityLevelConfiguration: { name: "narrow" },
        rules: [
          {
            subjects: [{ kind: "Group", group: { name: "karpenter-node-holder" } }],
            resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["nodes"], clusterScope: true }],
          },
        ],
      },
    },
  ],
};
