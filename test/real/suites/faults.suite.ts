import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "vitest";
import { AlarmSignals } from "../../repository/alarm-signals.ts";
import { FaultsEngines, none } from "../faults/engines.ts";
import { awsFaults } from "../faults/of-aws.ts";
import { clusterFaults } from "../faults/of-cluster.ts";
import { recordFaults } from "../faults/of-record.ts";
import { FaultsWorld } from "../faults/world.ts";

describe("faults of real engines", () => {
  let engines: FaultsEngines;
  let alarms: AlarmSignals;
  let world: FaultsWorld;
  beforeAll(async () => {
    engines = await FaultsEngines.start();
    alarms = new AlarmSignals();
  });
  afterAll(async () => engines?.stop());

  beforeEach(async () => {
    world = await FaultsWorld.open(engines);
  });
  afterEach(async () => {
    const signals = alarms.of(world.datapoints);
    await world.close();
    expect(await engines.marks()).toEqual(none);
    if (world.expectedAlarms.length === 0) expect(signals).toEqual([]);
    else expect(signals).toEqual(expect.arrayContaining(world.expectedAlarms));
  });

  clusterFaults(() => world);
  recordFaults(() => world);
  awsFaults(() => world);
});
