import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "vitest";
import { AlarmSignals } from "../../repository/alarm-signals.ts";
import { failureModes } from "../../repository/failure-modes.ts";
import { FaultsEngines, none } from "../faults/engines.ts";
import { awsFaults } from "../faults/of-aws.ts";
import { clusterFaults } from "../faults/of-cluster.ts";
import { recordFaults } from "../faults/of-record.ts";
import { FaultsWorld } from "../faults/world.ts";

/** The alarms that docs/failure-modes.md names for a case. */
function promisedAlarms(title: string): readonly string[] {
  const row = failureModes.find(({ proofs }) => proofs.some(({ name }) => name === title));
  if (!row) throw new Error(`docs/failure-modes.md has no row for "${title}"`);
  return row.alarms;
}

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
  afterEach(async ({ task }) => {
    const signals = alarms.of(world.datapoints);
    await world.close();
    expect(await engines.marks()).toEqual(none);
    const promised = promisedAlarms(task.name);
    if (promised.length === 0) expect(signals).toEqual([]);
    else expect(signals).toEqual(expect.arrayContaining([...promised]));
  });

  clusterFaults(() => world);
  recordFaults(() => world);
  awsFaults(() => world);
});
