import { describe, expect, it } from "vitest";
import { after, minutes } from "../../lambda/core/duration.ts";
import type { Ports } from "../../lambda/core/ports.ts";
import { onControlRequest } from "../../lambda/handlers/control.ts";
import { onNodeLaunched } from "../../lambda/handlers/hold.ts";
import { onHoldExpired } from "../../lambda/handlers/release.ts";
import { onSweepDue } from "../../lambda/handlers/sweep.ts";
import { Kind } from "../../lambda/record/item-table.ts";
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

/** Holds by NodePool, each with a node and marks: one record cannot be read. */
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
  it.each([
    ["a release", (ports: Ports) => onHoldExpired(ports)({ force: true }, context)],
    ["a pause", (ports: Ports) => onControlRequest(ports)({ do: "pause" }, context)],
  ])("does not stop %s of everything by hand, which replaces it", async (_, byHand) => {
    const { ports, holds, marked } = await aBrokenRecord();
    await byHand(ports);
    expect(marked()).toEqual([]);
    expect(await holds.find("nodepool/a")).toMatchObject({ version: 8 });
    expect(await holds.find("nodepool/a")).not.toHaveProperty("unreadable");
  });

  it("is replaced by the next sweep, which takes its marks off", async () => {
    const { ports, world, holds, marked } = await aBrokenRecord();
    await onSweepDue(ports)({}, until(after(world.time, minutes(5))));
    expect(marked()).toEqual(["b"]);
    expect(await holds.find("nodepool/a")).toEqual({ scope: "nodepool/a", version: 8 });
  });

  it.each([
    ["holds as if there were none, and takes its nodes over without a gap", "nodepool/a"],
    ["of a NodePool holds though the whole cluster's record cannot be read", "cluster"],
  ])("a launch %s", async (_, broken) => {
    const { ports, world, holds } = await aBrokenRecord(broken);
    world.ec2.add("i-0000000a", noon, "a");
    const Records = [{ messageId: "m", body: JSON.stringify(launchEvent("i-0000000a", noon)) }];

    await onNodeLaunched(ports)({ Records }, context);

    const { hold } = (await holds.find("nodepool/a")) ?? {};
    expect(hold?.state).toBe("held");
    expect(world.nodes.marks()).toMatchObject({ a: hold?.id });
    expect(world.nodes.history("a")).toEqual([undefined, "true"]);
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
