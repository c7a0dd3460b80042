import { afterAll, beforeAll, describe } from "vitest";
import type { DeployedCluster } from "../deployed/cluster.ts";
import { upgradeCases } from "../deployed/upgrades.ts";
import { DeployedWorld } from "../deployed/world.ts";

describe("updates of the deployed holder", () => {
  let world: DeployedWorld;
  let prod: DeployedCluster;

  beforeAll(async () => {
    world = await DeployedWorld.start();
    prod = await world.cluster("prod", { hold: "1m", sweepEvery: "1h", events: "true" });
  });
  afterAll(async () => world?.stop());

  upgradeCases(() => ({ world, prod }));
});
