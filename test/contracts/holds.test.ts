import { describe } from "vitest";
import { embeddedStore } from "../support/dynamodb-store.ts";
import { MemoryHolds } from "../support/memory-holds.ts";
import { holdsContract } from "./holds.ts";

describe("holds kept in memory", () => {
  holdsContract(async (clock) => {
    const store = new MemoryHolds(clock);
    return { holds: store, journal: store, close: async () => {} };
  });
});

describe("holds kept in an embedded DynamoDB", () => holdsContract(embeddedStore));
