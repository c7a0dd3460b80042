import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Karpenter } from "../../lambda/adapters/keys.ts";
import { kubeconfigLogin } from "../../lambda/adapters/kubeconfig-login.ts";
import { KubernetesAccess } from "../../lambda/adapters/kubernetes-access.ts";
import { KubernetesInspection } from "../../lambda/adapters/kubernetes-inspection.ts";
import { CollectedLog } from "../support/collected-log.ts";
import { clientOf } from "../support/kubernetes-nodes-world.ts";
import { ControlPlane } from "./control-plane.ts";
import { until } from "./processes.ts";

const clock = { now: () => new Date() };
const { annotation, poolLabel } = Karpenter.v1;

describe("an inspection of a real cluster, with the holder's rights alone", () => {
  let plane: ControlPlane;
  let inspection: KubernetesInspection;
  const soon = () => new Date(Date.now() + 30_000);
  const node = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "a", labels: { [poolLabel]: "default" } },
  };

  beforeAll(async () => {
    plane = await ControlPlane.start();
    const admin = clientOf(await kubeconfigLogin(plane.config("admin")).access());
    await new KubernetesAccess({ api: admin, clock, log: new CollectedLog() }).write([annotation]);
    await admin.call({ method: "POST", path: "/api/v1/nodes", body: node }, soon());
    const api = clientOf(await kubeconfigLogin(plane.config("holder")).access());
    inspection = new KubernetesInspection({
      api,
      poolLabel,
      annotation,
      nodePools: { only: [], except: [] },
      clock,
    });
  });
  afterAll(async () => plane?.stop());

  it("sees policy and rights at work, tells the cluster's clock, and writes nothing", async () => {
    await until("the policy to be enforced", async () => {
      return (await inspection.inspect(soon())).foreignChange === "refused";
    });
    const found = await inspection.inspect(soon());
    expect(found).toMatchObject({ missingRights: [], needlessRights: [], ownChange: "admitted", nodes: 1 });
    expect(Math.abs((found.clusterTime?.getTime() ?? 0) - Date.now())).toBeLessThan(5_000);
    expect(await plane.kubectl(["get", "node", "a", "-o", "jsonpath={.metadata.annotations}"])).toBe("");
  });

  it("sees that the policy is for another annotation", async () => {
    const api = clientOf(await kubeconfigLogin(plane.config("holder")).access());
    const options = { api, poolLabel, nodePools: { only: [], except: [] }, clock };
    const other = new KubernetesInspection({ ...options, annotation: "example.com/stay" });
    expect(await other.inspect(soon())).toMatchObject({ foreignChange: "refused", ownChange: "refused" });
  });

  it("sees that the policy does not bind any more", async () => {
    await plane.kubectl(["delete", "validatingadmissionpolicybinding", "karpenter-node-holder"]);
    await until("the policy to be off", async () => {
      return (await inspection.inspect(soon())).foreignChange === "admitted";
    });
  });

  it("sees which right was taken", async () => {
    const patch = '[{"op":"replace","path":"/rules/0/verbs","value":["get","list"]}]';
    await plane.kubectl(["patch", "clusterrole", "karpenter-node-holder", "--type=json", "-p", patch]);
    await until("the right to be gone", async () => {
      const { missingRights } = await inspection.inspect(soon());
      return missingRights.join() === "patch nodes";
    });
  });
});
