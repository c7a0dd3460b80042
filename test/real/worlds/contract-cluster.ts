import { KubeConfig } from "@kubernetes/client-node";
import { KubernetesAccess } from "../../../lambda/cluster-access/cluster-rights.ts";
import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import { kubeconfigLogin } from "../../../lambda/kubernetes/kubeconfig-login.ts";
import type { ClusterAccess } from "../../../lambda/kubernetes/transport.ts";
import { CollectedLog } from "../../../simulator/collected-log.ts";
import { clientOf } from "../../contracts/cluster-nodes.ts";
import { within } from "../../support/context.ts";
import { ControlPlane } from "../engines/control-plane.ts";

/** A cluster for the contracts, used as its administrator and as the holder. */
export type ContractCluster = Readonly<{
  admin: ClusterAccess;
  holder: ClusterAccess;
  stop(): Promise<void>;
}>;

/** Whether it is the user's cluster: then only what we added may be removed. */
export const isUsersCluster = Boolean(process.env.KNH_OWN_CLUSTER);

const group = "karpenter-node-holder";

/** A control plane started here, or the user's cluster, which the runner has asked about. */
export async function contractCluster(): Promise<ContractCluster> {
  const kubeconfig = process.env.KNH_OWN_CLUSTER;
  if (kubeconfig) return usersCluster(kubeconfig);
  const plane = await ControlPlane.start();
  const admin = await kubeconfigLogin(plane.config("admin")).access();
  const holder = await kubeconfigLogin(plane.config("holder")).access();
  return { admin, holder, stop: () => plane.stop() };
}

async function usersCluster(kubeconfig: string): Promise<ContractCluster> {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const admin = await kubeconfigLogin(config).access();
  const impersonate = { "impersonate-user": `${group}-test`, "impersonate-group": group };
  const api = clientOf(admin);
  const access = new KubernetesAccess({ api, clock: { now: () => new Date() }, log: new CollectedLog() });
  await refuseIfInUse(admin, access);
  const stop = async () => {
    await access.remove();
    await api.close();
  };
  return { admin, holder: { ...admin, headers: { ...admin.headers, ...impersonate } }, stop };
}

/** The contracts mark Karpenter's nodes and remove the holder's rights at the end, so the cluster may have neither. */
async function refuseIfInUse(admin: ClusterAccess, access: KubernetesAccess): Promise<void> {
  const findings = await access.check([]);
  if (findings.some(({ state }) => state === "right" || state === "different")) {
    throw new Error("this cluster has the holder's rights already; try a cluster without a node holder");
  }
  const api = clientOf(admin);
  for (const { poolLabel } of [Karpenter.v1, Karpenter["v0.31"]]) {
    const query = { labelSelector: poolLabel, limit: "1" };
    const soon = within(30_000);
    const list = await api.call({ method: "GET", path: "/api/v1/nodes", query }, soon);
    if (JSON.stringify(list).includes(`"${poolLabel}"`)) {
      throw new Error(
        "this cluster has nodes of Karpenter; try one without, for example a fresh kind cluster",
      );
    }
  }
  await api.close();
}
