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

  it("starts a hold whose one-shot, when an extension has set another meanwhile, is left alone", async () => {
    const world = new Scenario();
    world.addNode("old");
    world.launch();
    const start = await world.deliver();
    while (start.waitsFor !== "patch old") await world.step(start);

    await world.control({ do: "hold", for: "30m" });
    const extended = world.hold();
    await world.finish(start);

    expect(extended).toMatchObject({ expiresAt: at(30), armedFor: at(30) });
    expect(world.hold()).toMatchObject({ expiresAt: at(30), armedFor: at(30) });
  });

  it("extends the hold; the earlier one-shot releases nothing and is created again", async () => {
    const world = new Scenario();
    world.sweepEvery = undefined;
    world.addNode("old");
    world.launch();
    await world.pass(minutes(15));
    world.launch();

    await world.pass(minutes(5));
    const reported = world.log.reported("release decided");
    const afterTheOneShot = world.heldNodes();
    await world.pass(minutes(15));

    expect(reported).toMatchObject([{ action: "keep", because: "the hold was extended" }]);
    expect(afterTheOneShot).toEqual(["node-1", "node-2", "old"]);
    expect(world.marks()).toEqual({});
    expect(world.history()).toMatchObject([{ extensions: 1, launches: 2, endedAt: at(35) }]);
  });

  it("among a thousand in one hold costs one schedule", async () => {
    const world = new Scenario({ maxHold: 0 });
    world.sweepEvery = undefined;

    for (let n = 0; n < 1000; n++) {
      world.launch({ joinsAfter: null });
      if (n % 100 === 99) await world.pass(minutes(1));
    }

    expect(world.calls.filter((call) => call === "arm")).toHaveLength(1);
    expect(world.hold()).toMatchObject({ id: holdId(1) });
    expect(world.queue.deadLetters).toEqual([]);
  });

  it("just after a forced release holds again, also when a function's clock is behind", async () => {
    const world = new Scenario();
    await world.releaseByHand({ force: true });
    await world.pass(seconds(1));
    world.launch();

    await world.finish(await world.deliver(world.queue.due(), -seconds(4)));

    expect(world.hold()).toMatchObject({ causedAt: after(noon, seconds(1)) });
  });

  it("that EC2 knows a second late is held two seconds later", async () => {
    const world = new Scenario();
    const { instance } = world.launch();
    world.ec2.unlisted.add(instance);

    await world.pass(seconds(1));
    world.ec2.unlisted.delete(instance);
    await world.pass(seconds(3));

    expect(world.hold()).toMatchObject({ expiresAt: at(20) });
  });
});

describe("a new node", () => {
  it.each([seconds(5), minutes(1), minutes(4), minutes(9)])(
    "is marked when it joins, also after %i ms",
    async (delay) => {
      const world = new Scenario();
      world.sweepEvery = undefined;
      world.launch({ joinsAfter: delay });

      await world.pass(delay + minutes(2));

      expect(world.heldNodes()).toEqual(["node-1"]);
    },
  );

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

  it("launched before the last recorded launch does not start a hold by the sweep, however late it joined", async () => {
    const world = new Scenario();
    world.launch({ joinsAfter: minutes(21), eventAfter: null });
    await world.pass(minutes(1));
    world.launch({ joinsAfter: seconds(30) });

    await world.pass(minutes(60));

    expect(world.history()).toMatchObject([{ id: holdId(1), endedAt: at(21) }]);
    expect(world.marks()).toEqual({});
  });
});
