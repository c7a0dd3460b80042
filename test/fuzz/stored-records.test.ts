import { DeleteItemCommand, DynamoDBClient, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, expect } from "vitest";
import { DynamodbTable } from "../../lambda/aws/dynamodb-table.ts";
import { type AttributeMap as Item, toAttributes } from "../../lambda/aws/dynamodb-values.ts";
import { after, minutes } from "../../lambda/core/duration.ts";
import { BrokenSetupError } from "../../lambda/core/errors.ts";
import type { Hold } from "../../lambda/core/holds/hold.ts";
import { onNodeLaunched } from "../../lambda/handlers/hold.ts";
import { onHoldExpired } from "../../lambda/handlers/release.ts";
import { onOverdueSwept } from "../../lambda/handlers/sweep.ts";
import { Kind } from "../../lambda/record/item-keys.ts";
import { StoredHolds } from "../../lambda/record/stored-holds.ts";
import { launchEvent } from "../../simulator/fake-ec2.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { World } from "../../simulator/world.ts";
import { startDynalite } from "../contracts/dynalite.ts";
import { createHoldTable } from "../contracts/dynamodb-store.ts";
import { aHold } from "../support/builders.ts";
import { until } from "../support/context.ts";
import fc from "../support/fast-check.ts";
import { errorOf, expectClear, fuzzed } from "./fuzz.ts";

const instance = { a: "i-0000000a", b: "i-0000000b" } as const;
const context = until(after(noon, minutes(60)));

/** A record as this version writes it. */
const stored = (pool: string, hold: Hold): Item =>
  toAttributes({ kind: Kind.record, name: `nodepool/${pool}`, version: 3, lastLaunchAt: noon, hold });
const running = aHold({
  id: holdId(1),
  armedFor: after(noon, minutes(20)),
  unprotected: true,
  expiresAt: after(noon, minutes(20)),
});

const value = fc.constantFrom<Item[string] | undefined>(
  undefined,
  { S: "" },
  { S: "x".repeat(5_000) },
  { S: "+275760-09-14T00:00:00Z" },
  { N: "-1" },
  { N: "1.5" },
  { BOOL: true },
  { NULL: true },
  { L: [] },
  { M: {} },
  { SS: ["a"] },
  { B: new Uint8Array([1, 2, 3]) },
);
/** A record of another version, or written by hand: a field is missing, of another type, or unknown. */
const odd = fc.tuple(fc.boolean(), fc.nat(), value).map(([inHold, which, other]): Item => {
  const record = stored("a", running);
  const hold = { ...record.hold?.M };
  const fields: Item = inHold ? hold : record;
  const names = [
    ...Object.keys(fields).filter((name) => !["kind", "name", "hold"].includes(name)),
    "unknown",
  ];
  const name = names[which % names.length] ?? "";
  if (other) fields[name] = other;
  else delete fields[name];
  return { ...record, ...(inHold && { hold: { M: hold } }) };
});

let dynalite: Awaited<ReturnType<typeof startDynalite>>;
let client: DynamoDBClient;
let TableName: string;
beforeAll(async () => {
  dynalite = await startDynalite();
  client = new DynamoDBClient(dynalite.client);
  TableName = await createHoldTable(dynalite.client);
});
afterAll(async () => {
  client.destroy();
  await dynalite.close();
});

/** A world with a real table: an invalid record of one NodePool, and no record or a second one of the next. */
async function prepare(item: Item, other?: Item) {
  for (const name of ["cluster", "nodepool/a", "nodepool/b"])
    await client.send(
      new DeleteItemCommand({
        TableName,
        Key: { kind: { S: Kind.record }, name: { S: name } },
      }),
    );
  for (const one of [item, other]) if (one) await client.send(new PutItemCommand({ TableName, Item: one }));
  const world = new World({ scope: "nodepool" });
  const ports = { ...world.ports, holds: new StoredHolds(new DynamodbTable(client, TableName)) };
  const read = async () =>
    (
      await client.send(
        new GetItemCommand({
          TableName,
          Key: { kind: { S: Kind.record }, name: { S: "nodepool/a" } },
        }),
      )
    ).Item;
  const isReadable = (await errorOf(ports.holds.find("nodepool/a"))) === undefined;
  return { world, ports, read, isReadable };
}

function expectNamed(error: unknown): void {
  for (const one of error instanceof AggregateError ? error.errors : [error]) {
    expectClear(one, [BrokenSetupError], []);
    expect(String(one)).toMatch(/record nodepool\/a: [\w.]+ must be .*Release nodepool\/a by hand/s);
  }
}

fuzzed(
  "a record that cannot be read is named and not changed, and the sweep handles all others",
  async (item) => {
    const overdue = stored("b", aHold({ id: holdId(2), expiresAt: after(noon, -minutes(1)) }));
    const { world, ports, read, isReadable } = await prepare(item, overdue);
    const mine = { "karpenter-node-holder/hold": holdId(2) };
    world.nodes.add("b", {
      pool: "b",
      labels: mine,
      annotations: { "karpenter.sh/do-not-disrupt": "true" },
    });

    const error = await errorOf(onOverdueSwept(ports)({}, context));

    expect(world.nodes.get("b")?.labels).toEqual({});
    if (isReadable) {
      expect(error).toBeUndefined();
      return;
    }
    expectNamed(error);
    expect(await read()).toEqual(item);
  },
  { runs: 30, given: [odd] },
);

fuzzed(
  "a launch beside one whose record cannot be read is held",
  async (item) => {
    const { world, ports, read, isReadable } = await prepare(item);
    for (const pool of ["a", "b"] as const) world.ec2.add(instance[pool], noon, pool);
    world.nodes.add("b", { pool: "b" });
    const Records = [instance.a, instance.b].map((one, n) => ({
      messageId: `m-${n}`,
      body: JSON.stringify(launchEvent(one, noon)),
    }));

    const error = await errorOf(onNodeLaunched(ports)({ Records }, context));

    expect(world.nodes.get("b")?.labels).not.toEqual({});
    if (isReadable) return;
    expectNamed(error);
    expect(await read()).toEqual(item);
  },
  { runs: 30, given: [odd] },
);

fuzzed(
  "a release whose record cannot be read changes nothing",
  async (item) => {
    const { ports, read, isReadable } = await prepare(item);
    if (isReadable) return;
    expectNamed(await errorOf(onHoldExpired(ports)({ scope: "nodepool/a", holdId: holdId(1) }, context)));
    expect(await read()).toEqual(item);
  },
  { runs: 30, given: [odd] },
);
