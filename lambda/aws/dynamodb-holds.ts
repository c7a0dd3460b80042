import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { ScopeRecord } from "../core/holds/hold.ts";
import type { Holds } from "../core/ports.ts";
import type { Scope } from "../core/scope.ts";
import { type Condition, DynamodbTable } from "./dynamodb-table.ts";
import { HoldTable, Kind } from "./hold-table.ts";
import { readRecord, readScope } from "./stored-records.ts";

const neverWritten: Condition = {
  expression: "attribute_not_exists(#name)",
  names: { "#name": HoldTable.sortKey },
};
const unchangedSince = (version: number): Condition => ({
  expression: "#version = :version",
  names: { "#version": "version" },
  values: { ":version": { N: String(version) } },
});

/** One item a scope, each write conditional on the version that was read. */
export class DynamodbHolds implements Holds {
  readonly #table: DynamodbTable;

  constructor(client: DynamoDBClient, tableName: string) {
    this.#table = new DynamodbTable(client, tableName);
  }

  async find(scope: Scope): Promise<ScopeRecord | undefined> {
    const item = await this.#table.find(Kind.record, scope);
    return item && readRecord(item);
  }

  async all(): Promise<readonly ScopeRecord[]> {
    const records: ScopeRecord[] = [];
    for await (const item of this.#table.all(Kind.record)) records.push(readRecord(item));
    return records;
  }

  async scopes(): Promise<readonly Scope[]> {
    const scopes: Scope[] = [];
    for await (const item of this.#table.all(Kind.record)) scopes.push(readScope(item, HoldTable.sortKey));
    return scopes;
  }

  async write(record: ScopeRecord): Promise<boolean> {
    const { scope, version, ...rest } = record;
    const condition = version === 0 ? neverWritten : unchangedSince(version);
    return this.#table.put(Kind.record, scope, { ...rest, version: version + 1 }, condition);
  }
}
