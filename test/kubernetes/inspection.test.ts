import { describe, expect, it } from "vitest";
import { after, hours, minutes } from "../../lambda/core/duration.ts";
import { BrokenSetupError } from "../../lambda/core/errors.ts";
import { holderName, holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import type { KubernetesCall, KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { explained, KubernetesError } from "../../lambda/kubernetes/error.ts";
import { KubernetesInspection } from "../../lambda/kubernetes/inspection.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";
import { until } from "../support/context.ts";

const { annotation } = Karpenter.v1;
/** As the API server answers for a policy: the cause names it. */
const denial = new KubernetesError("PATCH", 422, {
  message: "denied request",
  details: { name: "a", causes: [{ message: "denied request" }] },
});
const isForeign = (call: KubernetesCall) => JSON.stringify(call.body).includes("not-ours");

type Node = Readonly<Record<string, unknown>>;
const aNode = (name: string, metadata: Node = {}): Node => ({
  metadata: {
    name,
    uid: `uid-${name}`,
    creationTimestamp: after(noon, -hours(100)).toISOString(),
    ...metadata,
  },
});

const nodeRights = ["get nodes", "list nodes"];
const demandRights = ["list nodeclaims of karpenter.sh", "list events of default"];

/** A cluster that grants these rights and answers dry runs so. */
function aCluster(
  about: Readonly<{
    nodes?: readonly Node[];
    rights?: readonly string[];
    gitVersion?: unknown;
    patch?: (call: KubernetesCall) => unknown;
  }> = {},
) {
  const { nodes = [aNode("a")], rights = [...nodeRights, "patch nodes", ...demandRights] } = about;
  const { gitVersion = "v1.36.1" } = about;
  const calls: KubernetesCall[] = [];
  const patch =
    about.patch ??
    ((call) => {
      if (isForeign(call)) throw denial;
      return aNode("a");
    });
  const api: KubernetesCaller = {
    async call(call) {
      calls.push(call);
      if (call.path === "/version") return { gitVersion };
      if (call.method === "POST") {
        const asked = JSON.parse(JSON.stringify(call.body)).spec.resourceAttributes;
        const where = asked.group ?? asked.namespace;
        const right = `${asked.verb} ${asked.resource}${where ? ` of ${where}` : ""}`;
        return { status: { allowed: rights.includes(right) } };
      }
      return call.method === "GET" ? { metadata: {}, items: nodes } : patch(call);
    },
  };
  const inspection = new KubernetesInspection({
    api,
    karpenter: "v1",
    annotation,
    nodePools: { only: [], except: [] },
    clock: new VirtualClock(),
  });
  return { calls, inspect: () => inspection.inspect(until(after(noon, minutes(1)))) };
}

describe("an inspection of a cluster", () => {
  it("finds no problem when rights and policy are correct", async () => {
    const { inspect, calls } = aCluster();
    expect(await inspect()).toMatchObject({
      kubernetes: "v1.36.1",
      missingRights: [],
      needlessRights: [],
      foreignChange: "refused",
      ownChange: "admitted",
      nodes: 1,
    });
    const patches = calls.filter((call) => call.method === "PATCH");
    expect(patches).toHaveLength(2);
    for (const { query } of patches) expect(query).toMatchObject({ dryRun: "All" });
  });

  it("knows no version where it is reported as no text", async () => {
    for (const gitVersion of [7, {}, { toString: 1 }, ["v1.36.1"]]) {
      expect(await aCluster({ gitVersion }).inspect()).toMatchObject({ kubernetes: "unknown" });
    }
  });

  it("names each right that is missing, and each that is too much", async () => {
    const { inspect } = aCluster({ rights: [...nodeRights, "delete nodes", "list events"] });
    expect(await inspect()).toMatchObject({
      missingRights: ["patch nodes", "list nodeclaims", "list events in namespace default"],
      needlessRights: ["delete nodes", "list events"],
    });
  });

  it("tries nothing when it may not list nodes", async () => {
    const { inspect, calls } = aCluster({ rights: [] });
    expect(await inspect()).toMatchObject({ foreignChange: "not tried", ownChange: "not tried" });
    expect(calls.some((call) => call.method === "PATCH")).toBe(false);
  });

  it("detects that changes beyond a mark are not refused", async () => {
    const { inspect } = aCluster({ patch: () => aNode("a") });
    expect(await inspect()).toMatchObject({ foreignChange: "admitted", ownChange: "admitted" });
  });

  it("detects that the policy refuses our mark, with its message", async () => {
    const patch = () => {
      throw denial;
    };
    expect(await aCluster({ patch }).inspect()).toMatchObject({
      foreignChange: "refused",
      ownChange: "refused",
      said: denial.message,
    });
  });

  it("draws no conclusion from a conflict", async () => {
    const patch = () => {
      throw new KubernetesError("PATCH", 422, { message: "admission: a policy denied request" });
    };
    expect(await aCluster({ patch }).inspect()).toMatchObject({ foreignChange: "not tried" });
  });

  it("counts a webhook's refusal as a refusal", async () => {
    const patch = () => {
      throw explained(new KubernetesError("PATCH", 403, {}));
    };
    expect(await aCluster({ patch }).inspect()).toMatchObject({ foreignChange: "refused" });
  });

  it("tries nothing without the right to patch", async () => {
    const { inspect } = aCluster({ rights: ["get nodes", "list nodes"] });
    expect(await inspect()).toMatchObject({ foreignChange: "not tried", ownChange: "not tried" });
  });

  it("reads the cluster's clock from the dry run", async () => {
    const time = after(noon, minutes(3));
    const patch = (call: KubernetesCall) => {
      if (isForeign(call)) throw denial;
      return aNode("a", { managedFields: [{ manager: holderName, time: time.toISOString() }] });
    };
    expect((await aCluster({ patch }).inspect()).clusterTime).toEqual(time);
  });

  it("finds nodes stuck in deletion, but not those that are still draining", async () => {
    const going = (name: string, since: number, finalizers = ["karpenter.sh/termination"]) =>
      aNode(name, { deletionTimestamp: after(noon, -since).toISOString(), finalizers });
    const nodes = [
      going("stuck", hours(2)),
      going("draining", minutes(5)),
      going("other", hours(2), ["x/y"]),
    ];
    const { stuck } = await aCluster({ nodes }).inspect();
    expect(stuck).toEqual([{ node: "stuck", since: after(noon, -hours(2)) }]);
  });

  it("finds nodes that a user has held for longer than a day, and who it was", async () => {
    const wrote = (since: number) => [
      {
        manager: "kubectl-annotate",
        time: after(noon, -since).toISOString(),
        fieldsV1: { "f:metadata": { "f:annotations": { [`f:${annotation}`]: {} } } },
      },
    ];
    const annotations = { [annotation]: "true" };
    const nodes = [
      aNode("long", { annotations, managedFields: wrote(hours(25)) }),
      aNode("since-today", { annotations, managedFields: wrote(hours(3)) }),
      aNode("ours", { annotations, labels: { [holdLabel]: holdId(1) } }),
      aNode("by-unknown-writer", { annotations }),
    ];
    const { userHeld } = await aCluster({ nodes }).inspect();
    expect(userHeld).toEqual([
      { node: "long", since: after(noon, -hours(25)), by: "kubectl-annotate" },
      { node: "by-unknown-writer", since: after(noon, -hours(100)) },
    ]);
  });

  it("finds nodes whose annotation protects nothing, and none that is left unprotected on purpose", async () => {
    const annotated = (name: string, value: string) => aNode(name, { annotations: { [annotation]: value } });
    const nodes = [
      annotated("a", "30m"),
      annotated("b", "True"),
      annotated("c", "true"),
      annotated("d", "false"),
    ];
    const { ineffective } = await aCluster({ nodes }).inspect();
    expect(ineffective).toEqual([
      { node: "a", value: "30m" },
      { node: "b", value: "True" },
    ]);
  });

  it("tries nothing on a node that is its user's", async () => {
    const nodes = [
      aNode("a", { annotations: { [annotation]: "true" } }),
      aNode("b", { labels: { [holdLabel]: "never" } }),
      aNode("c", { labels: { [holdLabel]: "Never" } }),
    ];
    expect(await aCluster({ nodes }).inspect()).toMatchObject({
      foreignChange: "not tried",
      ownChange: "not tried",
    });
  });

  it("fails as a broken set-up where the cluster refuses the login", async () => {
    const refused = new BrokenSetupError("The cluster refused the login (401)");
    const api: KubernetesCaller = { call: () => Promise.reject(refused) };
    const options = {
      api,
      karpenter: "v1" as const,
      annotation,
      nodePools: { only: [], except: [] },
      clock: new VirtualClock(),
    };
    await expect(new KubernetesInspection(options).inspect(until(noon))).rejects.toBe(refused);
  });
});
