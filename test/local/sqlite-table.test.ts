import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { BrokenSetupError } from "../../lambda/core/errors.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import { SqliteTable } from "../../local/run/sqlite-table.ts";
import { aHold, aPastHold, aRecord } from "../support/builders.ts";
import { storeOf } from "../support/dynamodb-store.ts";
import { noon } from "../support/fixed-clock.ts";
import { errorOf } from "../support/fuzz.ts";

const clock = { now: () => noon };

describe("a record on disk", () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "record-"));
    file = join(folder, "record.sqlite");
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Opens the file, does something with what is in it, and closes it. */
  async function inFile<T>(act: (store: ReturnType<typeof storeOf>) => Promise<T>, now = noon): Promise<T> {
    const table = SqliteTable.open(file, now);
    try {
      return await act(storeOf(table, clock));
    } finally {
      table.close();
    }
  }
  const read = () => inFile(({ holds }) => holds.find(wholeCluster));
  const child = (script: string, ...args: string[]): ChildProcess => {
    const process = fork(join(import.meta.dirname, "../support", script), [file, ...args]);
    onTestFinished(() => void process.kill("SIGKILL"));
    return process;
  };
  const expectWhole = () => {
    const database = new DatabaseSync(file);
    expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    database.close();
  };

  it("has what was written after it was closed and opened again", async () => {
    await inFile(({ holds }) => holds.write(aRecord({ hold: aHold({ id: "kept" }) })));
    expect(await read()).toMatchObject({ version: 1, hold: { id: "kept" } });
  });

  it("has every acknowledged write, however often its writer is killed with -9", async () => {
    let acknowledged = 0;
    for (const writes of [1, 7, 50]) {
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

  it("opens after a kill -9 before any of the statements that make it", async () => {
    for (let statement = 1; ; statement += 1) {
      rmSync(file, { force: true });
      rmSync(`${file}-wal`, { force: true });
      const writer = child("dies-at-statement.ts", String(statement));
      let isAcknowledged = false;
      writer.on("message", () => {
        isAcknowledged = true;
      });
      const [code] = await once(writer, "close");

      const version = (await read())?.version ?? 0;
      if (isAcknowledged) expect(version).toBe(1);
      expect(await inFile(({ holds }) => holds.write(aRecord({ version })))).toBe(true);
      expectWhole();
      if (code === 0) {
        expect(statement).toBeGreaterThan(5);
        return;
      }
    }
  });

  it("is refused to a second holder, and stays with the first", async () => {
    await inFile(async ({ holds }) => {
      expect(() => SqliteTable.open(file, noon)).toThrow(/record\.sqlite: another holder is using it/);
      const [code] = await once(child("dies-at-statement.ts", "never"), "close");
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
    const error = await errorOf(read());
    expect(error).toBeInstanceOf(BrokenSetupError);
    expect(error).toMatchObject({ message: expect.stringMatching(reason) });
    expect(String(error)).toContain(file);
    if (!readdirSync(tmpdir()).includes(folder.split("/").at(-1) ?? "")) folder = mkdtempSync(folder);
  });

  function pragma(setting: string): void {
    const database = new DatabaseSync(file);
    database.exec(`PRAGMA ${setting}`);
    database.close();
  }

  it("is its owner's alone, whatever the umask", async () => {
    const before = process.umask(0);
    onTestFinished(() => void process.umask(before));
    writeFileSync(file, "");
    await inFile(async ({ holds }) => {
      await holds.write(aRecord());
      const modes = readdirSync(folder).map((name) =>
        (statSync(join(folder, name)).mode & 0o777).toString(8),
      );
      expect(modes).toEqual(["600", "600"]);
    });
  });

  it("does not grow with what may be forgotten", async () => {
    await inFile(({ journal }) => journal.remember(aPastHold()));
    await inFile(async () => {}, new Date(noon.getTime() + 91 * 24 * 3_600_000));
    const database = new DatabaseSync(file);
    expect(database.prepare("SELECT count(*) AS items FROM items").get()).toEqual({ items: 0 });
    database.close();
  });
});
