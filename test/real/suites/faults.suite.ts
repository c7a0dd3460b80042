import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "vitest";
import { buildStaleFunctions } from "../../../scripts/bundles.ts";
import { AlarmSignals } from "../../repository/alarm-signals.ts";
import { FaultyCluster, none } from "../faults/cluster.ts";
import { clusterFaults } from "../faults/of-cluster.ts";
import { FaultsWorld } from "../faults/world.ts";

describe("faults of a real API server", () => {
  let cluster: FaultyCluster;
  let alarms: AlarmSignals;
  let world: FaultsWorld;
  beforeAll(async () => {
    cluster = await FaultyCluster.start();
    await buildStaleFunctions();
    alarms = new AlarmSignals();
  });
  afterAll(async () => cluster?.stop());

  beforeEach(() => {
    world = new FaultsWorld(cluster);
  });
  afterEach(async () => {
    const signals = alarms.of(world.datapoints);
    await world.close();
    expect(await cluster.marks()).toEqual(none);
    if (world.expectedAlarms.length === 0) expect(signals).toEqual([]);
    else expect(signals).toEqual(expect.arrayContaining(world.expectedAlarms));
  });

  clusterFaults(() => world);
});
