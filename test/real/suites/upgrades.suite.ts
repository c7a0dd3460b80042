import { join } from "node:path";
import { DeleteClusterCommand, EKSClient } from "@aws-sdk/client-eks";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { keptCluster } from "../../../scripts/keep-template.ts";
import type { DeployedCluster } from "../deployed/cluster.ts";
import { DeployedWorld } from "../deployed/world.ts";
import { allAwsBehaviour } from "../emulator/emulator.ts";

const versionBefore = join(import.meta.dirname, "../deployed/kept-app.ts");

describe("an update of the deployed holder", () => {
  let world: DeployedWorld;
  let prod: DeployedCluster;

  beforeAll(async () => {
    world = await DeployedWorld.start();
    prod = await world.cluster("prod", { hold: "1m", sweepEvery: "1h", events: "true" });
  });
  afterAll(async () => world?.stop());

  it("from the version before, and back to it, leaves nodes held and deletes as the rest", async () => {
    const cluster = await world.cluster(keptCluster, {}, versionBefore);
    const node = await cluster.join(await cluster.launch());
    await cluster.control({ do: "hold", for: "1h", reason: "an upgrade" });
    const holdId = await cluster.untilMarked([node]);

    for (const app of [undefined, versionBefore]) {
      await world.deploy(keptCluster, {}, { app });
      expect(await cluster.control({ do: "status" })).toMatchObject({ cluster: keptCluster });
      expect(await cluster.marks()).toMatchObject({ [node]: holdId });
    }

    await world.destroy(keptCluster);
    expect([await cluster.marks(), await cluster.rights()]).toEqual([{}, []]);
  });

  it("of a cluster that cannot be changed is left by the documented command, and the next update succeeds", async () => {
    const usual = { hold: "1m", sweepEvery: "1h", events: "true" };
    world.emulator.setBehaviour([...allAwsBehaviour, "calls-throttled"]);
    onTestFinished(() => world.emulator.setBehaviour(allAwsBehaviour));

    await expect(world.deploy(prod.name, { ...usual, hold: "auto" })).rejects.toThrow(/Rate exceeded/);
    expect(await world.stackStatus(prod.name)).toBe("UPDATE_ROLLBACK_FAILED");

    const [installed = ""] = await world.resources(prod.name, "Custom::KarpenterNodeHolderAccess");
    await world.continueRollback(prod.name, [installed]);
    expect(await world.stackStatus(prod.name)).toBe("UPDATE_ROLLBACK_COMPLETE");
    expect(await prod.environment("hold")).toMatchObject({ HOLD: "1m" });

    world.emulator.setBehaviour(allAwsBehaviour);
    await world.deploy(prod.name, { ...usual, hold: "auto" });
    expect(await prod.environment("hold")).toMatchObject({ HOLD: "auto" });
    await world.deploy(prod.name, usual);
  });

  it("of a cluster that is gone succeeds, and so does the destroy", async () => {
    const cluster = await world.cluster("vanished");
    const eks = world.emulator.client(EKSClient);
    await eks.send(new DeleteClusterCommand({ name: cluster.name }));

    // The app cannot ask EKS, so that the deployment begins.
    const env = { AWS_ENDPOINT_URL_EKS: "http://127.0.0.1:1" };
    await world.deploy(cluster.name, { hold: "30m" }, { env });

    expect(await world.stackStatus(cluster.name)).toBe("UPDATE_COMPLETE");
    await world.destroy(cluster.name);
    expect(await world.stackStatus(cluster.name)).toBe("gone");
  });
});
