import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import fs, {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join } from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { BrokenSetupError } from "../../lambda/core/errors.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import { NoRoomError, RecordFile } from "../../local/run/record-file.ts";
import { RunTable } from "../../local/run/run-table.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { storeOf } from "../contracts/dynamodb-store.ts";
import { errorOf } from "../fuzz/fuzz.ts";
import { aHold, aPastHold, aRecord } from "../support/builders.ts";
import { newFolder } from "../support/new-folder.ts";

const clock = { now: () => noon };

/** Calls back before each call of node:sqlite that executes SQL, until the function it returns is called. */
function beforeEachStatement(act: () => void): () => void {
  const restores = [
    ...["exec", "close"].map((method) => intercept(DatabaseSync.prototype, method, act)),
    ...["run", "get", "all"].map((method) => intercept(StatementSync.prototype, method, act)),
  ];
  return () => {
    for (const restore of restores) restore();
  };
}

function intercept(prototype: object, method: string, act: () => void): () => void {
  const real: unknown = Reflect.get(prototype, method);
  if (typeof real !== "function") throw new Error(`node:sqlite has no ${method}`);
  Reflect.set(prototype, method, function (this: unknown, ...args: unknown[]) {
    act();
    return real.apply(this, args);
  });
  return () => void Reflect.set(prototype, method, real);
}

function replaceOpen(open: typeof fs.openSync): void {
  fs.openSync = open;
  syncBuiltinESMExports();
}

describe("a record on disk", () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = newFolder();
    file = join(folder, "record.sqlite");
  });

  const open = (now = noon) =>
    RunTable.open({ folder: dirname(file), clock: { now: () => now }, log: new CollectedLog() });
  /** Opens the file, does something with what is in it, and closes it. */
  async function inFile<T>(act: (store: ReturnType<typeof storeOf>) => Promise<T>, now = noon): Promise<T> {
    const table = open(now);
    try {
      return await act(storeOf(table, clock));
    } finally {
      table.close();
    }
  }
  const read = () => inFile(({ holds }) => holds.find(wholeCluster));
  const child = (script: string): ChildProcess => {
    const process = fork(join(import.meta.dirname, script), [file], { silent: true });
    onTestFinished(() => void process.kill("SIGKILL"));
    return process;
  };
  /** Opens the file as what it is, without our table. */
  function inDatabase<T>(act: (database: DatabaseSync) => T): T {
    const database = new DatabaseSync(file);
    try {
      return act(database);
    } finally {
      database.close();
    }
  }
  const ask = (sql: string) => inDatabase((database) => database.prepare(sql).get());
  const expectWhole = () => expect(ask("PRAGMA integrity_check")).toEqual({ integrity_check: "ok" });

  it("has what was written after it was closed and opened again", async () => {
    await inFile(({ holds }) => holds.write(aRecord({ hold: aHold({ id: holdId(7) }) })));
    expect(await read()).toMatchObject({ version: 1, hold: { id: holdId(7) } });
  });

  it("has every acknowledged write, however often its writer is killed with -9", async () => {
    let acknowledged = 0;
    for (const writes of [3, 50]) {
      const writer = child("endless-writer.ts");
      const first = acknowledged;
      writer.on("message", (version: number) => {
        acknowledged = version;
        if (version >= first + writes) writer.kill("SIGKILL");
      });
      await once(writer, "close");

      expect(acknowledged).toBeGreaterThanOrEqual(first + writes);
      expect((await read())?.version).toBeGreaterThanOrEqual(acknowledged);
      expectWhole();
    }
  });

  it("opens as each of the SQL statements found it on the disk", async () => {
    const copies: string[] = [];
    const restore = beforeEachStatement(() => {
      const copy = join(folder, String(copies.length), "record.sqlite");
      mkdirSync(dirname(copy));
      // What a killed process leaves: all that it has given to the operating system.
      for (const part of ["", "-wal"]) {
        if (existsSync(`${file}${part}`)) copyFileSync(`${file}${part}`, `${copy}${part}`);
      }
      copies.push(copy);
    });
    try {
      await inFile(({ holds }) => holds.write(aRecord()));
    } finally {
      restore();
    }

    const versions: number[] = [];
    for (file of copies) {
      const version = (await read())?.version ?? 0;
      versions.push(version);
      expect(await inFile(({ holds }) => holds.write(aRecord({ version })))).toBe(true);
      expectWhole();
    }
    expect(copies.length).toBeGreaterThan(5);
    // The last one is closing, after the write was acknowledged.
    expect(versions.at(-1)).toBe(1);
  });

  it("is refused to a second holder, and stays with the first", async () => {
    await inFile(async ({ holds }) => {
      expect(() => RecordFile.open(file, noon)).toThrow(
        /^another run is at work with the record .*record\.sqlite$/,
      );
      const [code] = await once(child("second-holder.ts"), "close");
      expect(code).toBe(1);
      expect(await holds.write(aRecord())).toBe(true);
    });
  });

  it.each<[string, () => void, RegExp]>([
    ["is no database", () => writeFileSync(file, "x".repeat(5_000)), /file is not a database/],
    [
      "is of another version",
      () => pragma("user_version = 2"),
      /it has format 2, which another version wrote/,
    ],
    ["lies in no folder", () => rmSync(folder, { recursive: true }), /no such file or directory/],
  ])("says why it cannot be opened when it %s", async (_, prepare, reason) => {
    prepare();
    const error = await errorOf((async () => RecordFile.open(file, noon))());
    expect(error).toBeInstanceOf(BrokenSetupError);
    expect(error).toMatchObject({ message: expect.stringMatching(reason) });
    expect(String(error)).toContain(file);
  });

  it("says what cannot be done now", () => {
    const table = RecordFile.open(file, noon);
    table.close();
    expect(() => table.all("record")).toThrow(`Cannot read the record ${file} now: `);
    expect(() => table.put("record", "x", {})).toThrow(`Cannot write the record ${file} now: `);
  });

  function pragma(setting: string): void {
    inDatabase((database) => database.exec(`PRAGMA ${setting}`));
  }

  it.each(["new", "present"])("is its owner's alone, whatever the umask, when it is %s", async (which) => {
    const before = process.umask(0);
    onTestFinished(() => void process.umask(before));
    if (which === "present") writeFileSync(file, "");
    await inFile(async ({ holds }) => {
      await holds.write(aRecord());
      const modes = readdirSync(folder).map((name) =>
        (statSync(join(folder, name)).mode & 0o777).toString(8),
      );
      expect(modes).toEqual(["600", "600"]);
    });
  });

  it("is opened, as its owner's alone, where another process makes it at the same moment", () => {
    const real = fs.openSync;
    onTestFinished(() => replaceOpen(real));
    replaceOpen((...args) => {
      replaceOpen(real);
      writeFileSync(file, "", { mode: 0o644 });
      return real(...args);
    });
    RecordFile.open(file, noon).close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("does not grow with what may be forgotten", async () => {
    await inFile(({ journal }) => journal.remember(aPastHold()));
    await inFile(async () => {}, new Date(noon.getTime() + 91 * 24 * 3_600_000));
    expect(ask("SELECT count(*) AS items FROM items")).toEqual({ items: 0 });
  });

  it.each([
    ["the disk is full", 13, 1],
    ["a quota is used up", 778, 1],
    ["the disk is broken", 10, undefined],
  ])("where %s (%d), it opens with what may be forgotten, or not: %s", async (_, errcode, version) => {
    await inFile(({ holds }) => holds.write(aRecord()));
    const restore = intercept(StatementSync.prototype, "run", () => {
      throw Object.assign(new Error("no write"), { errcode });
    });
    const found = await read()
      .catch(() => undefined)
      .finally(restore);
    expect(found?.version).toBe(version);
  });

  it("says where the disk has no room for a new one", () => {
    const restore = intercept(DatabaseSync.prototype, "exec", () => {
      throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
    });
    expect(() => RecordFile.open(file, noon)).toThrow(NoRoomError);
    restore();
    RecordFile.open(file, noon).close();
  });
});
