import { join } from "node:path";
import { DescribeClusterCommand, EKSClient } from "@aws-sdk/client-eks";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { DeployedCluster } from "../deployed/cluster.ts";
import { DeployedWorld } from "../deployed/world.ts";
import { allAwsBehaviour } from "../emulator/emulator.ts";

const name = "private";
const app = join(import.meta.dirname, "../deployed/private-app.ts");

describe("a holder whose network is in its own stack, for a cluster with a private endpoint", () => {
  let world: DeployedWorld;
  let cluster: DeployedCluster;
  let settings: Readonly<Record<string, string>>;

  beforeAll(async () => {
    world = await DeployedWorld.start(allAwsBehaviour, app);
    const { emulator } = world;
    await emulator.relaxIam();
    const plane = await emulator.createCluster(name, {
      endpointPublicAccess: false,
      endpointPrivateAccess: true,
    });
    const described = await emulator.client(EKSClient).send(new DescribeClusterCommand({ name }));
    settings = { securityGroup: described.cluster?.resourcesVpcConfig?.clusterSecurityGroupId ?? "" };
    cluster = new DeployedCluster(emulator, name, plane);
    await cluster.join("i-0123456789abcdef0");
  });
  afterAll(async () => world?.stop());

  beforeEach(async () => {
    await world.deploy(name, settings);
    await cluster.control({ do: "hold", for: "10m", reason: "to be marked when it is destroyed" });
    await cluster.untilMarked(["node-1"]);
    expect(await cluster.rights()).toHaveLength(4);
  });

  const left = async () => [await cluster.marks(), await cluster.rights(), await cluster.accessGroups()];
  const nothing = [{}, [], []];

  it("leaves neither marks nor rights when it is destroyed, whatever else CloudFormation deletes first", async () => {
    await world.destroy(name, settings);

    expect(await left()).toEqual(nothing);
    expect(await world.stackStatus(name)).toBe("gone");
  });

  it("says in a stack event what may remain when a destroy, as an update before, cannot reach the cluster, and the next one removes it", async () => {
    world.emulator.setBehaviour([...allAwsBehaviour, "private-endpoints-cut"]);
    onTestFinished(() => world.emulator.setBehaviour(allAwsBehaviour));

    // A constant hold needs other rights.
    await expect(world.deploy(name, { ...settings, hold: "20m" })).rejects.toThrow();
    expect(await world.stackStatus(name)).toBe("UPDATE_ROLLBACK_FAILED");
    await expect(world.destroy(name, settings)).rejects.toThrow(
      /may remain in cluster private: marks on nodes/,
    );

    expect(await world.stackStatus(name)).toBe("DELETE_FAILED");
    expect(await world.deleteFailures(name)).toContainEqual(
      expect.stringMatching(/may remain in cluster private: marks on nodes.*Delete the stack again/s),
    );
    expect(Object.keys(await cluster.marks())).toEqual(["node-1"]);

    world.emulator.setBehaviour(allAwsBehaviour);
    await world.destroy(name, settings);

    expect(await left()).toEqual(nothing);
    expect(await world.stackStatus(name)).toBe("gone");
  });
});
