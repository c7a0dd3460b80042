import { describe } from "vitest";
import { SqliteTable } from "../../local/run/sqlite-table.ts";
import { MemoryHolds } from "../../simulator/memory-holds.ts";
import { dynaliteStore, storeOf } from "./dynamodb-store.ts";
import { holdsContract } from "./holds.ts";

describe("holds kept in memory", () => {
  holdsContract(async (clock) => {
    const store = new MemoryHolds(clock);
    return { holds: store, journal: store, close: async () => {} };
  });
});

describe("holds kept in SQLite", () => {
  holdsContract(async (clock) => {
    const table = SqliteTable.inMemory();
    return { ...storeOf(table, clock), close: async () => table.close() };
  });
});

describe("holds kept in dynalite's DynamoDB", () => holdsContract(dynaliteStore));
