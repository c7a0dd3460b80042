import type { ObservedWeek } from "../lambda/core/observed.ts";
import type { Clock, HoldEvents } from "../lambda/core/ports.ts";
import type { HoldChange, PastHold, ScopeRecord } from "../lambda/core/record.ts";
import type { Scope } from "../lambda/core/scope.ts";
import { type Fields, Kind } from "../lambda/record/item-table.ts";
import { StoredHolds, storedRecord } from "../lambda/record/stored-holds.ts";
import { StoredJournal } from "../lambda/record/stored-journal.ts";
import { readPastHold, readRecord } from "../lambda/record/stored-records.ts";
import type { MemoryTable } from "./memory-table.ts";

/** The real holds, whose records can be looked at without a call. */
export class WatchedHolds extends StoredHolds {
  readonly #table: MemoryTable;
  readonly #clock: Clock;
  readonly #view: () => ReadonlyMap<string, ScopeRecord>;

  constructor(table: MemoryTable, clock: Clock) {
    super(table, clock);
    this.#table = table;
    this.#clock = clock;
    this.#view = table.view(Kind.record, readRecord);
  }

  /** The records by scope. */
  get records(): ReadonlyMap<Scope, ScopeRecord> {
    return this.#view() as ReadonlyMap<Scope, ScopeRecord>;
  }

  /** Writes over whatever is there. */
  async put(record: ScopeRecord): Promise<void> {
    await this.#table.put(Kind.record, record.scope, storedRecord(record, this.#clock.now()));
  }

  /** A hand writes a record whose hold we cannot read; like every writer it counts its writes. */
  async spoil(scope: Scope): Promise<void> {
    const { version = 0 } = this.records.get(scope) ?? {};
    const item = (await this.#table.find(Kind.record, scope))?.item as Fields;
    const hold = { ...Object(item.hold), startedAt: "unknown" };
    await this.#table.put(Kind.record, scope, { ...item, hold, version: version + 1 });
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

/** The changes of records from which events are made. */
export class NotedChanges implements HoldEvents {
  readonly all: HoldChange[] = [];
  readonly weeks: ObservedWeek[] = [];

  note(change: HoldChange): void {
    this.all.push(change);
  }

  noteObserved(week: ObservedWeek): void {
    this.weeks.push(week);
  }
}
