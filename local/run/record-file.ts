import { chmodSync, closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { BrokenSetupError, messageOf, TryAgainError } from "../../lambda/core/errors.ts";
import {
  type Fields,
  HoldTable,
  type Item,
  type Kind,
  type StoredItem,
} from "../../lambda/record/item-table.ts";
import { RecordInUseError } from "./rights.ts";

/** The format of the file; a file of another format is refused. */
const format = 1;

const create = `
  CREATE TABLE items (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    fields TEXT NOT NULL CHECK (json_valid(fields)),
    PRIMARY KEY (kind, name)
  ) STRICT, WITHOUT ROWID;
  PRAGMA user_version = ${format};
  COMMIT`;
const write =
  "INSERT INTO items (kind, name, fields) VALUES (:kind, :name, :fields) ON CONFLICT DO UPDATE SET fields = excluded.fields";

/** The file is no record that this version can read. */
export class DamagedRecordError extends BrokenSetupError {}

/** There is no record yet, and the disk has no room for one. */
export class NoRoomError extends BrokenSetupError {}

/** Items in one SQLite file, which one process opens at a time. An acknowledged write is on the disk. */
export class RecordFile {
  readonly #database: DatabaseSync;
  readonly #file: string;

  private constructor(database: DatabaseSync, file: string) {
    this.#database = database;
    this.#file = file;
  }

  /** Opens or creates the file; deletes expired items, where the disk has room for that. */
  static open(file: string, now: Date): RecordFile {
    let database: DatabaseSync | undefined;
    try {
      makePrivate(file);
      database = new DatabaseSync(file);
      prepare(database);
      const forgotten = database.prepare(
        `DELETE FROM items WHERE json_extract(fields, '$.${HoldTable.forgetAt}') <= ?`,
      );
      fits(() => forgotten.run(now.getTime() / 1_000));
      return new RecordFile(database, file);
    } catch (error) {
      database?.close();
      throw cannotOpen(file, error);
    }
  }

  all(kind: Kind): readonly StoredItem[] {
    return this.#do("read", () => {
      const rows = this.#database.prepare("SELECT * FROM items WHERE kind = ?").all(kind);
      return rows.map(({ name, fields }) => {
        const item: Item = { ...JSON.parse(String(fields)), kind, name };
        return { item, where: placeIn(this.#file, kind, String(name)) };
      });
    });
  }

  /** Writes over what is there. */
  put(kind: Kind, name: string, fields: Fields): void {
    const item = { kind, name, fields: JSON.stringify(fields) };
    this.#do("write", () => this.#database.prepare(write).run(item));
  }

  close(): void {
    this.#database.close();
  }

  #do<T>(task: "read" | "write", act: () => T): T {
    try {
      return act();
    } catch (error) {
      if (isDamaged(error)) throw cannotOpen(this.#file, error);
      throw new TryAgainError(`Cannot ${task} the record ${this.#file} now: ${messageOf(error)}`);
    }
  }
}

/** Where an item is, for messages. */
export const placeIn = (file: string, kind: string, name: string): string => `File ${file}, ${kind} ${name}`;

/** SQLite gives its other files the same mode. A file that is there is not opened: closing it would end this process's locks on it. */
function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if (Object(error).code !== "EEXIST") throw error;
    chmodSync(file, 0o600);
  }
}

function prepare(database: DatabaseSync): void {
  // Each of these writes only to a new file.
  const execute = (statements: string) => {
    if (!fits(() => database.exec(statements))) throw new NoRoomError("the disk has no room for a new one");
  };
  // Before the first access: from then on the lock is kept until the file is closed or the process ends.
  execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL; BEGIN EXCLUSIVE");
  const present = database.prepare("PRAGMA user_version").get()?.user_version;
  if (present !== 0 && present !== format)
    throw new DamagedRecordError(`it has format ${present}, which another version wrote`);
  execute(present === 0 ? create : "COMMIT");
  // Only faster: without room for it, the file is as safe in the mode that it has.
  fits(() => database.exec("PRAGMA journal_mode = WAL"));
}

/** False where the disk has no room. */
function fits(act: () => unknown): boolean {
  try {
    act();
    return true;
  } catch (error) {
    if (isFull(error)) return false;
    throw error;
  }
}

const busy = 5;
/** SQLite's codes of a file that is damaged, and of one that is no database. */
const damaged = [11, 26];

/** SQLite's codes of a full disk, and of a write that failed, as where a user's quota is used up. */
const full = [13, 778];

/** Extended codes have more in their higher bytes. */
const codeOf = (error: unknown): number => Number(Object(error).errcode) & 0xff;
const isFull = (error: unknown): boolean => full.includes(Number(Object(error).errcode));
const isDamaged = (error: unknown): boolean =>
  error instanceof DamagedRecordError || damaged.includes(codeOf(error));

function cannotOpen(file: string, error: unknown): BrokenSetupError {
  if (codeOf(error) === busy)
    return new RecordInUseError(
      `another run is at work with the record ${file}`,
      "Stop that one first, or give this one another folder by --data.",
    );
  const message = `Cannot open the record ${file}: ${messageOf(error)}`;
  if (error instanceof NoRoomError) return new NoRoomError(message);
  return isDamaged(error) ? new DamagedRecordError(message) : new BrokenSetupError(message);
}
