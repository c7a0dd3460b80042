import { DeleteClusterCommand, EKSClient } from "@aws-sdk/client-eks";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { holderName } from "../../../lambda/core/marks/keys.ts";
import { type AwsBehaviour, allAwsBehaviour } from "../emulator/emulator.ts";
import type { DeployedCluster } from "./cluster.ts";
import type { DeployedWorld } from "./world.ts";

type World = Readonly<{ world: DeployedWorld; prod: DeployedCluster; watched: DeployedCluster }>;

const other = "example.com/keep";

/** A subnet and a security group; the emulator looks neither up. */
const vpc = "subnet-0123456789abcdef0,sg-0123456789abcdef0";

/** First deployments that fail, later ones with other settings, and the destroy. */
export function changeCases(open: () => World): void {
  describe("a first deployment that fails", () => {
    const name = "first";
    beforeAll(async () => {
      const { emulator } = open().world;
      await emulator.relaxIam();
      await emulator.createCluster(name);
    });

    it.each<[AwsBehaviour, RegExp, Readonly<Record<string, string>>]>([
      ["config-map-only", /aws-auth ConfigMap only/, {}],
      ["subnets-closed", /NAT gateway, or the interface endpoint com\.amazonaws\.us-east-1\.eks/, { vpc }],
      ["calls-denied", /explicit deny in a service control policy/, {}],
      ["calls-throttled", /Rate exceeded/, {}],
    ])("by %s says why, is rolled back, and can be destroyed", async (fault, why, settings) => {
      const { world } = open();
      world.emulator.setBehaviour([...allAwsBehaviour, fault]);
      onTestFinished(() => world.emulator.setBehaviour(allAwsBehaviour));

      // The app cannot ask EKS, so that the deployment begins.
      const failed = world.deploy(name, settings, { env: { AWS_ENDPOINT_URL_EKS: "http://127.0.0.1:1" } });
      await expect(failed).rejects.toThrow(why);

      expect(await world.stackStatus(name)).toBe("ROLLBACK_COMPLETE");
      await world.destroy(name);
      expect(await world.stackStatus(name)).toBe("gone");
      expect(await world.logGroups(name)).toEqual([]);
    });
  });

  it("a deployment for no cluster, or an endpoint that answers some addresses only, is refused before anything is created", async () => {
    const { world } = open();
    await world.emulator.relaxIam();
    await world.emulator.createCluster("closed", { publicAccessCidrs: ["203.0.113.0/24"] });

    await expect(world.deploy("missing", {})).rejects.toThrow(
      /there is no EKS cluster missing in this account and region\nCheck/,
    );
    await expect(world.deploy("closed", {})).rejects.toThrow(
      /endpoint of closed answers 203\.0\.113\.0\/24 only.*\nDeploy with the setting vpc=SUBNETS/s,
    );

    expect(await world.stackStatus("missing")).toBe("gone");
    expect(await world.stackStatus("closed")).toBe("gone");
  });

  it("deploying with another annotation is refused while nodes are marked, and marks under it afterwards", async () => {
    const { world, prod } = open();
    await prod.control({ do: "hold", for: "10m", reason: "to be marked anew" });
    const nodes = (await prod.core.listNode()).items.map(({ metadata }) => metadata?.name ?? "");
    await prod.untilMarked(nodes);
    const settings = { hold: "1m", sweepEvery: "1h", holdAnnotation: other };

    await expect(world.deploy("prod", settings)).rejects.toThrow(/nodes are marked by the annotation/);
    await prod.untilMarked(nodes);

    await prod.control({ do: "pause", for: "30m", reason: "another annotation" });
    expect(await prod.marks()).toEqual({});
    await world.deploy("prod", settings);
    await prod.control({ do: "resume" });
    const joined = await prod.join(await prod.launch());
    await prod.untilMarked([...nodes, joined], other);
  });

  describe("destroying", () => {
    it("leaves neither marks nor rights in its cluster, and changes nothing of another cluster's holder", async () => {
      const { world, prod, watched } = open();

      await world.destroy("prod");

      expect([await prod.marks(other), await prod.rights()]).toEqual([{}, []]);
      expect(await prod.accessGroups()).not.toContain(holderName);
      expect(await watched.rights()).toHaveLength(4);
      expect(await watched.control({ do: "status" })).toMatchObject({ cluster: "watched" });
    });

    it("does not fail when the cluster is gone", async () => {
      const { world, watched } = open();
      await world.emulator.client(EKSClient).send(new DeleteClusterCommand({ name: watched.name }));

      await world.destroy("watched");
    });

    it("leaves no log group, though the last lines come late", async () => {
      const { world } = open();
      expect([await world.logGroups("prod"), await world.logGroups("watched")]).toEqual([[], []]);
    });
  });
}
