import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KubernetesAccess } from "../../../lambda/cluster-access/cluster-rights.ts";
import { after, hours } from "../../../lambda/core/duration.ts";
import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import type { Clock } from "../../../lambda/core/ports.ts";
import type { KubernetesClient } from "../../../lambda/kubernetes/client.ts";
import { KubernetesInspection } from "../../../lambda/kubernetes/inspection.ts";
import { kubeconfigLogin } from "../../../lambda/kubernetes/kubeconfig-login.ts";
import { CollectedLog } from "../../../simulator/collected-log.ts";
import { clientOf } from "../../contracts/cluster-nodes.ts";
import { within } from "../../support/context.ts";
import { ControlPlane } from "../engines/control-plane.ts";
import { until } from "../engines/processes.ts";

const clock = { now: () => new Date() };
const { annotation, poolLabel } = Karpenter.v1;

describe("an inspection of a real cluster, with only the holder's rights", () => {
  let plane: ControlPlane;
  let admin: KubernetesClient;
  let inspectionAt: (clock: Clock) => KubernetesInspection;
  let inspection: KubernetesInspection;
  const soon = () => within(30_000);
  const node = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "a", labels: { [poolLabel]: "default" } },
  };

  beforeAll(async () => {
    plane = await ControlPlane.start();
    admin = clientOf(await kubeconfigLogin(plane.config("admin")).access());
    await new KubernetesAccess({ api: admin, clock, log: new CollectedLog() }).write([annotation]);
    await admin.call({ method: "POST", path: "/api/v1/nodes", body: node }, soon());
    const api = clientOf(await kubeconfigLogin(plane.config("holder")).access());
    const options = { api, karpenter: "v1" as const, annotation, nodePools: { only: [], except: [] } };
    inspectionAt = (clock) => new KubernetesInspection({ ...options, clock });
    inspection = inspectionAt(clock);
  });
  afterAll(async () => plane?.stop());

  it("finds that policy and rights are in effect, reads the cluster's clock, and writes nothing", async () => {
    await until("the policy to be enforced", async () => {
      return (await inspection.inspect(soon())).foreignChange === "refused";
    });
    const found = await inspection.inspect(soon());
    expect(found).toMatchObject({ missingRights: [], needlessRights: [], ownChange: "admitted", nodes: 1 });
    expect(Math.abs((found.clusterTime?.getTime() ?? 0) - Date.now())).toBeLessThan(5_000);
    expect(await plane.kubectl(["get", "node", "a", "-o", "jsonpath={.metadata.annotations}"])).toBe("");
  });

  it("finds that the policy is for another annotation", async () => {
    const api = clientOf(await kubeconfigLogin(plane.config("holder")).access());
    const options = { api, karpenter: "v1" as const, nodePools: { only: [], except: [] }, clock };
    const other = new KubernetesInspection({ ...options, annotation: "example.com/stay" });
    expect(await other.inspect(soon())).toMatchObject({ foreignChange: "refused", ownChange: "refused" });
  });

  it("finds nodes whose deletion waits for a Karpenter that no longer runs, and nodes that users annotated long ago", async () => {
    // Nothing removes Karpenter's finalizer here.
    const finalizers = ["karpenter.sh/termination"];
    const stuck = { ...node, metadata: { ...node.metadata, name: "stuck", finalizers } };
    const forgotten = { ...node, metadata: { ...node.metadata, name: "forgotten" } };
    for (const body of [stuck, forgotten])
      await admin.call({ method: "POST", path: "/api/v1/nodes", body }, soon());
    await plane.kubectl(["delete", "node", "stuck", "--wait=false"]);
    await plane.kubectl(["annotate", "node", "forgotten", `${annotation}=true`]);

    const now = await inspection.inspect(soon());
    expect(now).toMatchObject({ nodes: 3, stuck: [], userHeld: [] });
    const later = await inspectionAt({ now: () => after(new Date(), hours(25)) }).inspect(soon());
    expect(later.stuck).toEqual([{ node: "stuck", since: expect.any(Date) }]);
    expect(later.userHeld).toEqual([
      { node: "forgotten", since: expect.any(Date), by: expect.stringMatching(/^kubectl/) },
    ]);
    for (const { since } of [...later.stuck, ...later.userHeld])
      expect(Math.abs(since.getTime() - Date.now())).toBeLessThan(60_000);
  });

  it("finds that the policy is no longer bound", async () => {
    await plane.kubectl(["delete", "validatingadmissionpolicybinding", "karpenter-node-holder"]);
    await until("the policy to have no effect", async () => {
      return (await inspection.inspect(soon())).foreignChange === "admitted";
    });
  });

  it("finds which right is missing", async () => {
    const patch = '[{"op":"replace","path":"/rules/0/verbs","value":["get","list"]}]';
    await plane.kubectl(["patch", "clusterrole", "karpenter-node-holder", "--type=json", "-p", patch]);
    await until("the right to be missing", async () => {
      const { missingRights } = await inspection.inspect(soon());
      return missingRights.join() === "patch nodes";
    });
  });
});
