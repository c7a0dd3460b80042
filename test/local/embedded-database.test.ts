import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import dynalite from "dynalite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DynamodbHolds } from "../../lambda/aws/dynamodb-holds.ts";
import { BrokenSetupError } from "../../lambda/core/errors.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import {
  type EmbeddedDatabase,
  openEmbeddedDatabase,
  tableSchema,
} from "../../local/run/embedded-database.ts";
import { aHold, aRecord } from "../support/builders.ts";

const holdsIn = ({ client, table }: EmbeddedDatabase) => new DynamodbHolds(new DynamoDBClient(client), table);

describe("an embedded database on disk", () => {
  let folder: string;
  beforeEach(async () => {
    folder = join(await mkdtemp(join(tmpdir(), "holds-")), "database");
  });
  afterEach(() => rm(join(folder, ".."), { recursive: true, force: true }));

  it("has what was written after it was closed and opened again", async () => {
    const first = await openEmbeddedDatabase(folder);
    await holdsIn(first).write(aRecord({ hold: aHold({ id: "kept" }) }));
    await first.close();

    const second = await openEmbeddedDatabase(folder);
    const record = await holdsIn(second).find(wholeCluster);
    await second.close();

    expect(record?.hold?.id).toBe("kept");
  });

  it("has every acknowledged write after its process was killed with -9", async () => {
    const writer = fork(join(import.meta.dirname, "../support/endless-writer.ts"), [folder]);
    let acknowledged = 0;
    writer.on("message", (version: number) => {
      acknowledged = version;
      if (version === 50) writer.kill("SIGKILL");
    });
    const [, signal] = await once(writer, "exit");

    const database = await openEmbeddedDatabase(folder);
    const record = await holdsIn(database).find(wholeCluster);
    const goesOn = await holdsIn(database).write(aRecord({ version: record?.version ?? 0 }));
    await database.close();

    expect(signal).toBe("SIGKILL");
    expect(record?.version).toBeGreaterThanOrEqual(acknowledged);
    expect(acknowledged).toBeGreaterThanOrEqual(50);
    expect(goesOn).toBe(true);
  });

  it("begins anew when it was killed while it made its table", async () => {
    await makeHalfATable(folder);

    const database = await openEmbeddedDatabase(folder);
    expect(await holdsIn(database).write(aRecord())).toBe(true);
    await database.close();
  });

  it("says so when another holder has it open", async () => {
    const first = await openEmbeddedDatabase(folder);
    try {
      const second = openEmbeddedDatabase(folder);
      await expect(second).rejects.toThrow(BrokenSetupError);
      await expect(second).rejects.toThrow(/another holder/);
      expect(await holdsIn(first).write(aRecord())).toBe(true);
    } finally {
      await first.close();
    }
  });
});

async function makeHalfATable(folder: string): Promise<void> {
  const server = dynalite({ path: folder, createTableMs: 2_000_000_000 });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const credentials = { accessKeyId: "embedded", secretAccessKey: "embedded" };
  const client = new DynamoDBClient({ endpoint: `http://127.0.0.1:${port}`, region: "local", credentials });
  await client.send(new CreateTableCommand({ ...tableSchema, TableName: "holds" }));
  client.destroy();
  await new Promise((closed) => server.close(closed));
}
