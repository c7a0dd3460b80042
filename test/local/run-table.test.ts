import { rmSync } from "node:fs";
import { beforeEach, expect, it } from "vitest";
import { after, hours } from "../../lambda/core/duration.ts";
import { StoredJournal } from "../../lambda/record/stored-journal.ts";
import { RunTable, recordIn } from "../../local/run/run-table.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { aPastHold } from "../support/builders.ts";
import { newFolder } from "../support/new-folder.ts";

let folder: string;
beforeEach(() => {
  folder = newFolder();
});

/** Opens the table of a run, does something with it, and closes it. */
async function inTable<T>(act: (table: RunTable) => Promise<T>, clock = { now: () => noon }): Promise<T> {
  const table = RunTable.open({ folder, clock, log: new CollectedLog() });
  return act(table).finally(() => table.close());
}

it("has in memory nothing that may be forgotten, however long it is open", async () => {
  let now = noon;
  const clock = { now: () => now };
  await inTable(async (table) => {
    const journal = new StoredJournal(table, clock);
    await journal.remember(aPastHold());
    now = after(noon, hours(24 * 91));
    await journal.remember(aPastHold({ id: holdId(2), endedAt: now }));
    const ids: unknown[] = [];
    for await (const { item } of table.all("history")) ids.push(item.id);
    expect(ids).toEqual([holdId(2)]);
  }, clock);
});

it("passes over a record that an edit has given the name of no scope, and says where it is", () =>
  inTable(async (table) => {
    await table.put("record", "nodepool/UPPER", {});
    expect(table.records).toEqual([]);
    const found = await table.find("record", "nodepool/UPPER");
    expect(found?.where).toBe(`File ${recordIn(folder)}, record nodepool/UPPER`);
  }));

it("names each start on it alike, and no start on another one", async () => {
  const identity = () => inTable((table) => table.identity());
  const first = await identity();
  expect(await identity()).toBe(first);
  rmSync(recordIn(folder));
  expect(await identity()).not.toBe(first);
});
