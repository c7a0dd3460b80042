import { describe } from "vitest";
import { RunTable } from "../../local/run/run-table.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { MemoryTable } from "../../simulator/memory-table.ts";
import { newFolder } from "../support/new-folder.ts";
import { storeOf } from "./dynamodb-store.ts";
import { holdsContract } from "./holds.ts";

describe("holds kept in memory", () => {
  holdsContract(async (clock) => ({ ...storeOf(new MemoryTable(), clock), close: async () => {} }));
});

describe("holds of a run", () => {
  holdsContract(async (clock) => {
    const table = RunTable.open({ folder: newFolder(), clock, log: new CollectedLog() });
    return { ...storeOf(table, clock), close: async () => table.close() };
  });
});
