import { beforeAll, describe, expect, it } from "vitest";
import { holderName } from "../../../lambda/core/marks/keys.ts";
import { allAwsBehaviour } from "../emulator/emulator.ts";
import { DeployedCluster } from "./cluster.ts";
import type { DeployedWorld } from "./world.ts";

/** Deployments that AWS rejects: each fails with a remedy and leaves nothing in the cluster. */
export function refusalCases(open: () => Readonly<{ world: DeployedWorld }>): void {
  describe("a deployment is refused", () => {
    let cluster: DeployedCluster;

    beforeAll(async () => {
      const { emulator } = open().world;
      // The suite itself must reach its API server.
      emulator.setBehaviour(allAwsBehaviour.filter((one) => one !== "endpoints-closed"));
      await emulator.relaxIam();
      const plane = await emulator.createCluster("closed", { publicAccessCidrs: ["203.0.113.0/24"] });
      emulator.setBehaviour(allAwsBehaviour);
      cluster = new DeployedCluster(emulator, "closed", plane);
    });

    it("for a cluster whose endpoint is public only for some addresses, and the error names the setting vpc", async () => {
      const { world } = open();

      await expect(world.deploy("closed", {})).rejects.toThrow(
        /endpoint of closed answers 203\.0\.113\.0\/24 only.*-c vpc=SUBNETS/,
      );

      expect(await cluster.accessGroups()).not.toContain(holderName);
    });

    it("with reserved concurrency in an account whose quota is too low", async () => {
      const { world } = open();

      await expect(world.deploy("closed", { reserveConcurrency: "true" })).rejects.toThrow(
        "UnreservedConcurrentExecution below its minimum value",
      );
    });
  });
}
