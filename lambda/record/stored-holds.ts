import { writeLearned } from "../core/auto/learned-text.ts";
import type { ScopeRecord } from "../core/holds/hold.ts";
import type { Holds } from "../core/ports.ts";
import type { Scope } from "../core/scope.ts";
import { HoldTable, Kind } from "./item-keys.ts";
import type { ItemTable } from "./item-table.ts";
import { readRecord, readScope, storedReplacements } from "./stored-records.ts";

/** One item a scope, each write conditional on the version that was read. */
export class StoredHolds implements Holds {
  readonly #table: ItemTable;

  constructor(table: ItemTable) {
    this.#table = table;
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
    const { scope, version, replacements = [], learned, ...rest } = record;
    const remembered = replacements.length > 0 && { replacements: storedReplacements(replacements) };
    const item = { ...rest, ...remembered, ...(learned && { learned: writeLearned(learned) }) };
    return this.#table.put(Kind.record, scope, { ...item, version: version + 1 }, version);
  }
}
