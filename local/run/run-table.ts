import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, renameSync } from "node:fs";
import { basename, join } from "node:path";
import { messageOf } from "../../lambda/core/errors.ts";
import type { Clock, Log } from "../../lambda/core/ports.ts";
import type { ScopeRecord } from "../../lambda/core/record.ts";
import { parseScope } from "../../lambda/core/scope.ts";
import { type Fields, HoldTable, Kind, type StoredItem } from "../../lambda/record/item-table.ts";
import { readRecord } from "../../lambda/record/stored-records.ts";
import { ItemsInMemory } from "./items-in-memory.ts";
import { DamagedRecordError, NoRoomError, placeIn, RecordFile } from "./record-file.ts";

/** The file of the record in the folder of a run. */
export const recordIn = (folder: string): string => join(folder, "record.sqlite");

export type RunTableOptions = Readonly<{
  folder: string;
  clock: Clock;
  log: Log;
  /** Called for each write that failed. */
  onFailure?: () => void;
}>;

/**
 * The record of a run: read from memory, and written to the disk. What the disk refuses is kept in memory and written with
 * the next write, because a full disk must not keep nodes held.
 */
export class RunTable extends ItemsInMemory {
  readonly #file: string;
  /** Undefined until the disk has room for a new file. */
  #disk: RecordFile | undefined;
  readonly #options: RunTableOptions;
  readonly #unsaved = new Map<string, readonly [kind: Kind, name: string, fields: Fields]>();

  private constructor(options: RunTableOptions) {
    super();
    this.#file = recordIn(options.folder);
    this.#options = options;
  }

  /** Opens or creates the record; a damaged one is put aside. */
  static open(options: RunTableOptions): RunTable {
    try {
      return RunTable.openUndamaged(options);
    } catch (error) {
      if (!(error instanceof DamagedRecordError)) throw error;
      const lost = putAside(recordIn(options.folder), options.clock.now());
      const because = messageOf(error);
      options.log.error("the record is damaged: it was put aside, and a new one begins", { lost, because });
      return RunTable.openUndamaged(options);
    }
  }

  /** The same, but fails where it is damaged. */
  static openUndamaged(options: RunTableOptions): RunTable {
    const table = new RunTable(options);
    try {
      const disk = table.#open();
      for (const kind of Object.values(Kind))
        for (const stored of disk.all(kind)) table.keep(kind, String(stored.item.name), stored);
    } catch (error) {
      table.close();
      if (!(error instanceof NoRoomError)) throw error;
      table.#reportUnsaved(error);
    }
    return table;
  }

  /** Whether this record has taken the place of a damaged one, perhaps in a start that failed. */
  get hasLost(): boolean {
    return readdirSync(this.#options.folder).some((name) => name.startsWith(basename(asideOf(this.#file))));
  }

  /** From now until the next sweep, the marks there are those of another run, which has ended. */
  async noteTakeOver(): Promise<void> {
    await this.put(Kind.sweep, "taken over", { at: this.#options.clock.now() });
  }

  /** Whether the marks there are those of a damaged record or of a run that has ended: there was no sweep since. */
  async isLost(swept: Date | undefined): Promise<boolean> {
    const { at } = (await this.find(Kind.sweep, "taken over"))?.item ?? {};
    if (at === undefined) return swept === undefined && this.hasLost;
    return swept === undefined || new Date(String(at)) >= swept;
  }

  /** Whether everything is on the disk. */
  get isSaved(): boolean {
    return this.#disk !== undefined && this.#unsaved.size === 0;
  }

  /** The record of every scope, without a call. */
  get records(): readonly ScopeRecord[] {
    const items = [...(this.kinds.get(Kind.record)?.values() ?? [])];
    // An edit by hand may have any name: a sweep reports it.
    return items.filter(({ item }) => parseScope(String(item.name))).map(readRecord);
  }

  /** The same for each start on this record, so that none waits for itself, and no other's: machines may share names and paths. */
  async identity(): Promise<string> {
    const { id = randomUUID() } = (await this.find(Kind.sweep, "identity"))?.item ?? {};
    await this.put(Kind.sweep, "identity", { id: String(id) });
    return String(id);
  }

  override async put(kind: Kind, name: string, fields: Fields, ifVersion?: number): Promise<boolean> {
    if (!(await super.put(kind, name, fields, ifVersion))) return false;
    this.#unsaved.set(`${kind} ${name}`, [kind, name, fields]);
    this.#save();
    this.#forget(kind);
    return true;
  }

  /** Deletes what may be forgotten from memory: a run may last for years. The file is cleared when it is opened. */
  #forget(kind: Kind): void {
    const items = this.kinds.get(kind);
    const now = this.#options.clock.now().getTime() / 1_000;
    for (const [name, { item }] of items ?? [])
      if (Number(item[HoldTable.forgetAt]) <= now) items?.delete(name);
  }

  protected override stored(kind: Kind, name: string, fields: Fields): StoredItem {
    const item = { ...JSON.parse(JSON.stringify(fields)), kind, name };
    return { item, where: placeIn(this.#file, kind, name) };
  }

  close(): void {
    this.#disk?.close();
  }

  #open(): RecordFile {
    this.#disk ??= RecordFile.open(this.#file, this.#options.clock.now());
    return this.#disk;
  }

  #save(): void {
    const wasSaved = this.#disk !== undefined && this.#unsaved.size <= 1;
    try {
      const disk = this.#open();
      for (const [key, [kind, name, fields]] of [...this.#unsaved]) {
        disk.put(kind, name, fields);
        this.#unsaved.delete(key);
      }
      if (!wasSaved) this.#options.log.info("the record is on the disk again");
    } catch (error) {
      this.#reportUnsaved(error);
    }
  }

  #reportUnsaved(error: unknown): void {
    const { log, onFailure } = this.#options;
    onFailure?.();
    log.error("the record cannot be written: it is kept in memory, and lost if the holder ends", { error });
  }
}

const asideOf = (file: string): string => `${file}.damaged-`;

/** Renames the file and those that SQLite keeps beside it. */
function putAside(file: string, now: Date): string {
  const lost = asideOf(file) + now.toISOString().replaceAll(/[-:]|\.\d+/g, "");
  for (const part of ["", "-wal", "-shm", "-journal"])
    if (existsSync(file + part)) renameSync(file + part, lost + part);
  return lost;
}
