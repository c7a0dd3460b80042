import { describe, expect, it } from "vitest";
import { after, minutes } from "../../lambda/core/duration.ts";
import { onOperatorAsked } from "../../lambda/handlers/control.ts";
import { onNodeLaunched } from "../../lambda/handlers/hold.ts";
import { onHoldExpired } from "../../lambda/handlers/release.ts";
import { onOverdueSwept } from "../../lambda/handlers/sweep.ts";
import { Kind } from "../../lambda/record/item-keys.ts";
import { StoredHolds } from "../../lambda/record/stored-holds.ts";
import { launchEvent } from "../../simulator/fake-ec2.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { MemoryTable } from "../../simulator/memory-table.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { World } from "../../simulator/world.ts";
import { aHold } from "../support/builders.ts";
import { until } from "../support/context.ts";

const context = until(after(noon, minutes(5)));
const tomorrow = "2026-11-22T12:00:00.000Z";
const quiet = { kind: "paused", since: noon.toISOString(), because: "on call" };

/** Holds by NodePool, each with a node: the record of `a` cannot be read, that of `b` can. */
async function aBrokenRecord(broken = "nodepool/a") {
  const world = new World({ scope: "nodepool" });
  const { holds, table } = world;
  const { startedAt: _, ...rest } = aHold({ id: holdId(1) });
  await table.put(Kind.record, broken, { version: 7, quiet, launchesCountFrom: tomorrow, hold: rest });
  await holds.write({ scope: "nodepool/b", version: 0, hold: aHold({ id: holdId(2) }) });
  world.nodes.add("a", { pool: "a" });
  world.nodes.mark("a", holdId(1));
  world.nodes.add("b", { pool: "b" });
  world.nodes.mark("b", holdId(2));
  const { ports } = world;
  return { holds, world, ports, marked: () => Object.keys(world.nodes.marks()).toSorted() };
}

describe("a record that cannot be read", () => {
  it("does not stop a release of everything by hand, which writes it again and keeps its pause", async () => {
    const { ports, holds, marked } = await aBrokenRecord();

    await onHoldExpired(ports)({ force: true }, context);

    expect(marked()).toEqual([]);
    expect(await holds.find("nodepool/a")).toMatchObject({ quiet: { ...quiet, since: noon } });
    expect((await holds.find("nodepool/a"))?.launchesCountFrom).toEqual(new Date(tomorrow));
  });

  it("does not stop a pause of everything", async () => {
    const { ports, marked, holds } = await aBrokenRecord();

    await onOperatorAsked(ports)({ do: "pause" }, context);

    expect(marked()).toEqual([]);
    expect((await holds.all()).unreadable).toEqual([]);
  });

  it("does not stop the removal of orphaned marks; its own stay until its hold expires", async () => {
    const { ports, world, marked } = await aBrokenRecord();
    world.nodes.add("orphan");
    world.nodes.mark("orphan", holdId(3));

    const sweep = () => onOverdueSwept(ports)({}, until(after(world.time, minutes(5))));
    await expect(sweep()).rejects.toThrow(
      /nodepool\/a: hold.startedAt must be .*Release nodepool\/a by hand/,
    );
    expect(marked()).toEqual(["a", "b"]);

    world.time = after(noon, minutes(21));
    await expect(sweep()).rejects.toThrow();
    expect(marked()).toEqual([]);
  });

  it("of the whole cluster does not stop the holds of its NodePools", async () => {
    const { ports, world, holds } = await aBrokenRecord("cluster");
    const launchedAt = after(noon, minutes(60 * 24 + 1));
    world.time = after(launchedAt, minutes(1));
    world.ec2.add("i-0000000c", launchedAt, "c");
    const Records = [{ messageId: "m", body: JSON.stringify(launchEvent("i-0000000c", launchedAt)) }];

    await onNodeLaunched(ports)({ Records }, until(after(world.time, minutes(5))));

    expect((await holds.find("nodepool/c"))?.hold?.state).toBe("held");
  });
});

it("a record without a hold is deleted some days after its last moment", async () => {
  const table = new MemoryTable();
  const holds = new StoredHolds(table);
  const forgetAt = async () => (await table.find(Kind.record, "cluster"))?.item.forgetAt;

  await holds.write({ scope: "cluster", version: 0, lastLaunchAt: noon });
  expect(await forgetAt()).toBe(after(noon, minutes(60 * 24 * 7)).getTime() / 1_000);

  await holds.write({ scope: "cluster", version: 1, lastLaunchAt: noon, hold: aHold() });
  expect(await forgetAt()).toBeUndefined();
});
