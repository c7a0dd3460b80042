import { afterAll, beforeAll, describe, expect } from "vitest";
import { KubernetesAccess } from "../../../lambda/cluster-access/cluster-rights.ts";
import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import type { NodeChange } from "../../../lambda/core/ports.ts";
import { wholeCluster } from "../../../lambda/core/scope.ts";
import type { ClusterAccess } from "../../../lambda/kubernetes/transport.ts";
import { kubeconfigLogin } from "../../../local/run/kubeconfig-login.ts";
import { CollectedLog } from "../../../simulator/collected-log.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { clientOf, clusterNodesWorld } from "../../contracts/cluster-nodes.ts";
import { nodeEventsContract } from "../../contracts/node-events.ts";
import { nodesContract } from "../../contracts/nodes.ts";
import { nodesApiContract } from "../../contracts/nodes-api.ts";
import type { NodesOptions } from "../../contracts/nodes-world.ts";
import { within } from "../../support/context.ts";
import { ControlPlane } from "../engines/control-plane.ts";
import { patience, until } from "../engines/processes.ts";

const clock = { now: () => new Date() };
const all = { only: [], except: [] };

describe("a real API server, as a user with the holder's rights alone", () => {
  let plane: ControlPlane;
  let admin: ClusterAccess;
  let holder: ClusterAccess;
  let allowed: string | undefined;

  beforeAll(async () => {
    plane = await ControlPlane.start();
    admin = await kubeconfigLogin(plane.config("admin")).access();
    holder = await kubeconfigLogin(plane.config("holder")).access();
  });
  afterAll(async () => plane?.stop());

  /** The policy allows marks under one annotation: it is written anew where the contract uses another. */
  const open = async (options: NodesOptions) => {
    const annotation = options.annotation ?? Karpenter[options.karpenter ?? "v1"].annotation;
    if (annotation !== allowed) {
      const log = new CollectedLog();
      const access = new KubernetesAccess({ api: clientOf(admin), clock, log, nodeEvents: true });
      expect(await access.write(annotation)).toBe("with policy");
      await until("the policy to be enforced", () => isEnforced({ ...options, nodePools: all }));
      allowed = annotation;
    }
    return clusterNodesWorld(admin, holder, options);
  };
  const isEnforced = async ({ nodePools: _, ...options }: NodesOptions) => {
    const world = await clusterNodesWorld(admin, holder, options);
    try {
      await world.add("tried");
      const [node] = await world.nodes.list(wholeCluster, within(patience));
      if (!node) return false;
      const mark: NodeChange = { do: "mark", node, holdId: holdId(1), scope: wholeCluster };
      const { marked } = await world.nodes.change([mark], within(patience));
      return marked === 1 && (await isRefused(holder, "tried"));
    } finally {
      await world.close();
    }
  };

  nodesContract(open);
  nodesApiContract(async () => ({ access: admin, close: async () => {} }));
  nodeEventsContract(async () => {
    // With the holder's rights, whichever test comes first.
    await (await open({})).close();
    const [ofAdmin, ofHolder] = [clientOf(admin), clientOf(holder)];
    const close = async () => void (await Promise.all([ofAdmin.close(), ofHolder.close()]));
    return { admin: ofAdmin, holder: ofHolder, close };
  });
});

async function isRefused(holder: ClusterAccess, name: string): Promise<boolean> {
  const call = {
    method: "PATCH",
    path: `/api/v1/nodes/${name}`,
    contentType: "application/merge-patch+json",
    body: { spec: { unschedulable: true } },
  } as const;
  return clientOf(holder)
    .call(call, within(patience))
    .then(
      () => false,
      () => true,
    );
}
