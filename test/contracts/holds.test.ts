import { join } from "node:path";
import { describe } from "vitest";
import { SqliteTable } from "../../local/run/sqlite-table.ts";
import { MemoryTable } from "../../simulator/memory-table.ts";
import { newFolder } from "../support/new-folder.ts";
import { dynaliteStore, storeOf } from "./dynamodb-store.ts";
import { holdsContract } from "./holds.ts";

describe("holds kept in memory", () => {
  holdsContract(async (clock) => ({ ...storeOf(new MemoryTable(), clock), close: async () => {} }));
});

describe("holds kept in SQLite", () => {
  holdsContract(async (clock) => {
    const table = SqliteTable.open(join(newFolder(), "record.sqlite"), clock.now());
    return { ...storeOf(table, clock), close: async () => table.close() };
  });
});

describe("holds kept in dynalite's DynamoDB", () => holdsContract(dynaliteStore));
