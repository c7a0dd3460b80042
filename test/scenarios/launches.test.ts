import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { Scenario } from "../../simulator/scenario.ts";
import { noon } from "../../simulator/virtual-clock.ts";

const at = (minute: number) => after(noon, minutes(minute));

describe("a launch", () => {
  it("holds the whole cluster, and the new node once it has joined, until the hold expires", async () => {
    const world = new Scenario();
    world.addNode("old");

    world.launch({ joinsAfter: seconds(40) });
    await world.pass(seconds(1));
    const atOnce = world.heldNodes();
    await world.pass(minutes(2));
    const soon = world.heldNodes();
    await world.pass(minutes(17));
    const nearTheEnd = world.heldNodes();
    await world.pass(minutes(1));

    expect(atOnce).toEqual(["old"]);
    expect(soon).toEqual(["node-1", "old"]);
    expect(nearTheEnd).toEqual(["node-1", "old"]);
    expect(world.marks()).toEqual({});
    expect(world.history()).toMatchObject([
      { id: holdId(1), startedAt: noon, endedAt: at(20), nodes: 2, launches: 1 },
    ]);
  });
});

describe("a new node", () => {
  it("that another message has marked causes no warning when its own message gives up", async () => {
    const world = new Scenario();
    world.sweepEvery = undefined;
    world.launch({ joinsAfter: minutes(1) });
    await world.pass(seconds(1));
    world.launch({ joinsAfter: minutes(1) });

    await world.pass(minutes(13));

    expect(world.heldNodes()).toEqual(["node-1", "node-2"]);
    expect(world.queue.messages).toEqual([]);
    expect(world.log.lines.filter(({ level }) => level !== "info")).toEqual([]);
  });

  it("whose event was lost is found by the sweep, and holds from its launch time", async () => {
    const world = new Scenario();
    world.launch({ eventAfter: null });

    await world.pass(minutes(5));
    const hold = world.hold();
    await world.pass(minutes(15));

    expect(hold).toMatchObject({ startedAt: at(5), expiresAt: at(20) });
    expect(world.metrics.total("MissedLaunches")).toBe(1);
    expect([world.marks(), world.history().length]).toEqual([{}, 1]);
  });
});
