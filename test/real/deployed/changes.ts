import { CloudWatchLogsClient, DescribeLogGroupsCommand } from "@aws-sdk/client-cloudwatch-logs";
import { DeleteClusterCommand, EKSClient } from "@aws-sdk/client-eks";
import { ListScheduleGroupsCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { KubernetesObjectApi } from "@kubernetes/client-node";
import { describe, expect, it } from "vitest";
import { accessManifest } from "../../../lambda/cluster-access/manifest.ts";
import { holderName, holdLabel } from "../../../lambda/core/marks/keys.ts";
import type { DeployedCluster } from "./cluster.ts";
import type { DeployedWorld } from "./world.ts";

type World = Readonly<{ world: DeployedWorld; prod: DeployedCluster; legacy: DeployedCluster }>;

const other = "example.com/keep";

/** Later deployments with other settings, and the destroy. */
export function changeCases(open: () => World): void {
  describe("deploying again", () => {
    it("with the same settings changes nothing", async () => {
      const output = await open().world.deploy("prod", { hold: "1m", sweepEvery: "1h" });

      expect(output).toContain("(no changes)");
    });

    it("with another annotation removes every mark, and the next launch marks under the new one", async () => {
      const { world, prod } = open();
      await prod.control({ do: "hold", for: "10m", reason: "to be marked anew" });
      const nodes = (await prod.core.listNode()).items.map(({ metadata }) => metadata?.name ?? "");
      await prod.untilMarked(nodes);

      await world.deploy("prod", { hold: "1m", sweepEvery: "1h", holdAnnotation: other });

      expect(await prod.marks()).toEqual({});
      const joined = await prod.join(await prod.launch());
      await prod.untilMarked([...nodes, joined], other);
    });
  });

  describe("destroying", () => {
    it("leaves no mark, no rights and no access entry in the cluster, and nothing in the account", async () => {
      const { world, prod } = open();

      await world.destroy("prod");

      const { items } = await prod.core.listNode();
      const left = items.filter(
        ({ metadata }) => metadata?.labels?.[holdLabel] || metadata?.annotations?.[other],
      );
      expect(left).toEqual([]);
      expect(await rights(prod)).toEqual([]);
      expect(await prod.accessGroups()).not.toContain(holderName);
      expect(await leftInAccount(world, "prod")).toEqual([]);
    });

    it("changes nothing of another cluster's holder", async () => {
      const { legacy } = open();

      expect(await rights(legacy)).toHaveLength(6);
      expect(await legacy.control({ do: "status" })).toMatchObject({ cluster: "legacy" });
    });

    it("does not fail when the cluster is gone", async () => {
      const { world, legacy } = open();
      await world.emulator.client(EKSClient).send(new DeleteClusterCommand({ name: legacy.name }));

      await world.destroy("legacy");

      expect(await leftInAccount(world, "legacy")).toEqual([]);
    });
  });
}

async function rights(cluster: DeployedCluster): Promise<string[]> {
  const api = KubernetesObjectApi.makeApiClient(cluster.config);
  const found = accessManifest([other]).map(async ({ path, object: { kind = "" } }) => {
    const apiVersion = path.split("/").slice(2, 4).join("/");
    return api.read({ apiVersion, kind, metadata: { name: holderName } }).then(
      () => [kind],
      () => [],
    );
  });
  return (await Promise.all(found)).flat();
}

async function leftInAccount({ emulator }: DeployedWorld, cluster: string): Promise<string[]> {
  const { logGroups = [] } = await emulator
    .client(CloudWatchLogsClient)
    .send(new DescribeLogGroupsCommand({}));
  const { ScheduleGroups = [] } = await emulator
    .client(SchedulerClient)
    .send(new ListScheduleGroupsCommand({}));
  const names = [
    ...logGroups.map(({ logGroupName = "" }) => logGroupName),
    ...ScheduleGroups.map(({ Name = "" }) => Name),
  ];
  return names.filter((name) => name.includes(`${holderName}-${cluster}`));
}
