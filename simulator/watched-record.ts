import type { PastHold, ScopeRecord } from "../lambda/core/holds/hold.ts";
import { UnreadableRecordError } from "../lambda/core/holds/unreadable.ts";
import type { Clock } from "../lambda/core/ports.ts";
import type { Scope } from "../lambda/core/scope.ts";
import { Kind } from "../lambda/record/item-keys.ts";
import type { Fields, StoredItem } from "../lambda/record/item-table.ts";
import { StoredHolds } from "../lambda/record/stored-holds.ts";
import { StoredJournal } from "../lambda/record/stored-journal.ts";
import { readPastHold, readRecord } from "../lambda/record/stored-records.ts";
import type { MemoryTable } from "./memory-table.ts";

/** The real holds, whose records can be looked at without a call. */
export class WatchedHolds extends StoredHolds {
  readonly #table: MemoryTable;
  readonly #view: () => ReadonlyMap<string, ScopeRecord>;
  readonly #unreadable = new Set<Scope>();

  constructor(table: MemoryTable) {
    super(table);
    this.#table = table;
    this.#view = table.view(Kind.record, (item, before) => this.#read(item, before));
  }

  /** The records by scope; one that cannot be read is listed as it was before. */
  get records(): ReadonlyMap<Scope, ScopeRecord> {
    return this.#view() as ReadonlyMap<Scope, ScopeRecord>;
  }

  get unreadable(): ReadonlySet<Scope> {
    this.#view();
    return this.#unreadable;
  }

  /** Another version, or a hand, writes a record whose hold we cannot read; like all versions it counts its writes. */
  async spoil(scope: Scope): Promise<void> {
    const { version = 0 } = this.records.get(scope) ?? {};
    const item = (await this.#table.find(Kind.record, scope))?.item as Fields;
    const hold = { ...Object(item.hold), startedAt: "unknown" };
    await this.#table.put(Kind.record, scope, { ...item, hold, version: version + 1 });
  }

  /** Writes the records that cannot be read as they were before. */
  async restore(): Promise<void> {
    const { records } = this;
    for (const scope of [...this.unreadable]) await this.replace(records.get(scope) ?? { scope, version: 0 });
  }

  #read(item: StoredItem, before: ScopeRecord | undefined): ScopeRecord {
    try {
      const record = readRecord(item);
      this.#unreadable.delete(record.scope);
      return record;
    } catch (error) {
      if (!(error instanceof UnreadableRecordError)) throw error;
      const { rest } = error.readable;
      this.#unreadable.add(rest.scope);
      return { ...(before ?? rest), version: rest.version };
    }
  }
}

/** The real journal, whose history can be looked at without a call. */
export class WatchedJournal extends StoredJournal {
  readonly #view: () => ReadonlyMap<string, PastHold>;

  constructor(table: MemoryTable, clock: Clock) {
    super(table, clock);
    this.#view = table.view(Kind.history, readPastHold);
  }

  /** The holds that ended, by their ids. */
  get past(): ReadonlyMap<string, PastHold> {
    return new Map([...this.#view().values()].map((hold) => [hold.id, hold]));
  }
}
