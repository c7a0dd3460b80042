import { describe, expect, it } from "vitest";
import { TryAgainError } from "../../../lambda/core/errors.ts";
import { changeRecord, findRecord, wholeClusterRecord } from "../../../lambda/core/holds/records.ts";
import { CollectedLog } from "../../../simulator/collected-log.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aPastHold, aRecord } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";

describe("a change of a record", () => {
  it("begins with an empty record where there is none, and writes what was decided", async () => {
    const { context, record } = coreWorld();
    const decide = (found: object) => ({ record: { ...aRecord(), ...found, lastLaunchAt: noon } });
    await changeRecord(context, "cluster", decide);
    expect(record()).toEqual(aRecord({ version: 1, lastLaunchAt: noon }));
  });

  it("writes nothing, and no history, where nothing is decided", async () => {
    const { context, world } = coreWorld();
    await changeRecord(context, "cluster", () => ({ past: aPastHold() }));
    expect([world.holds.records.size, world.journal.past.size]).toEqual([0, 0]);
  });

  it("keeps a hold in history", async () => {
    const { context, world } = coreWorld();
    await changeRecord(context, "cluster", (record) => ({ record, past: aPastHold() }));
    expect([...world.journal.past.values()]).toEqual([aPastHold()]);
  });

  it("is decided again when another function wrote in between, and given up after twenty times", async () => {
    const { context, world } = coreWorld();
    const others = (times: number) => {
      let decisions = 0;
      return changeRecord(context, "cluster", (record) => {
        if (++decisions <= times) void world.holds.put(record);
        return { record, decisions };
      });
    };
    expect((await others(19)).decisions).toBe(20);
    await expect(others(20)).rejects.toThrow(
      new TryAgainError("the record of cluster was changed by other functions 20 times in a row"),
    );
  });
});

describe("a record that cannot be read", () => {
  it("counts as none, which is logged and counted, and the next write replaces it", async () => {
    const { context, world, record, metrics } = coreWorld({ records: [aRecord({ hold: aHold() })] });
    const log = new CollectedLog();
    await world.holds.spoil("cluster");
    const because = expect.stringContaining("hold.startedAt must be a time");
    expect(await findRecord({ ...context, log }, "cluster")).toEqual({
      ...aRecord({ version: 2 }),
      unreadable: because,
    });
    const line = "a record cannot be read: it counts as none, and the next write replaces it";
    expect(log.reported(line)).toEqual([{ scope: "cluster", because }]);
    expect(metrics.all("UnreadableRecords")).toEqual([1]);
    await changeRecord(context, "cluster", (found) => ({ record: { ...found, lastLaunchAt: noon } }));
    expect(record()).toEqual(aRecord({ version: 3, lastLaunchAt: noon }));
  });

  it.each(["unknown", 0])("is replaced also where its version is not one of ours: %j", async (version) => {
    const { context, world, record } = coreWorld();
    await world.table.put("record", "cluster", { version, hold: "unknown" });
    await changeRecord(context, "cluster", (found) => ({ record: found }));
    expect(record()).toEqual(aRecord({ version: 1 }));
  });

  it("is not replaced where another function has repaired it meanwhile", async () => {
    const { context, world, record } = coreWorld();
    await world.table.put("record", "cluster", { version: "unknown" });
    const repair = () => world.holds.put(aRecord({ lastLaunchAt: noon }));
    await changeRecord(context, "cluster", (found) => {
      if (found.unreadable) void repair();
      return { record: found };
    });
    expect(record()).toEqual(aRecord({ version: 2, lastLaunchAt: noon }));
  });
});

it("the whole cluster's record counts beside a NodePool's, not beside itself", async () => {
  const { context } = coreWorld({ records: [aRecord({ version: 6 })] });
  expect(await wholeClusterRecord(context, "cluster")).toBeUndefined();
  expect(await wholeClusterRecord(context, "nodepool/a")).toEqual(aRecord({ version: 7 }));
});
