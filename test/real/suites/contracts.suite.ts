import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KubernetesAccess } from "../../../lambda/cluster-access/cluster-rights.ts";
import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import type { ClusterAccess } from "../../../lambda/kubernetes/cluster-login.ts";
import { CollectedLog } from "../../../simulator/collected-log.ts";
import { clientOf, clusterNodesWorld } from "../../contracts/cluster-nodes.ts";
import { nodesContract } from "../../contracts/nodes.ts";
import { nodesApiContract } from "../../contracts/nodes-api.ts";
import { within } from "../../support/context.ts";
import { until } from "../engines/processes.ts";
import { type ContractCluster, contractCluster, isUsersCluster } from "../worlds/contract-cluster.ts";

const clock = { now: () => new Date() };
const keys = [Karpenter.v1.annotation, Karpenter["v0.31"].annotation, "example.com/stay"];

describe("a real API server, as a user with the holder's rights alone", () => {
  let cluster: ContractCluster;
  let admin: ClusterAccess;
  let holder: ClusterAccess;

  beforeAll(async () => {
    cluster = await contractCluster();
    ({ admin, holder } = cluster);
    const api = clientOf(admin);
    expect(await new KubernetesAccess({ api, clock, log: new CollectedLog() }).write(keys)).toBe(
      "with policy",
    );
    await until("the policy to be enforced", async () => {
      const world = await clusterNodesWorld(admin, holder, {});
      try {
        await world.add("refused");
        return await isRefused(holder, "refused");
      } finally {
        await world.close();
      }
    });
  });
  afterAll(async () => cluster?.stop());

  nodesContract((options) => clusterNodesWorld(admin, holder, options));
  // It starts and ends with a cluster without nodes.
  if (!isUsersCluster) nodesApiContract(async () => ({ access: admin, close: async () => {} }));

  it("is refused without a role", async () => {
    const api = clientOf(holder);
    const soon = within(10_000);
    await expect(api.call({ method: "GET", path: "/api/v1/pods" }, soon)).rejects.toMatchObject({
      cause: { status: 403 },
    });
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
    .call(call, within(10_000))
    .then(
      () => false,
      () => true,
    );
}
