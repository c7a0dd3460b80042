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

  it("that starts a hold writes its record twice: before the one-shot is set, and after the nodes are marked", async () => {
    const world = new Scenario();
    world.addNode("old");
    const calls: string[] = [];
    world.watch = (_, call) => void (/^(write|arm|patch|enqueue)/.test(call) && calls.push(call));

    world.launch();
    await world.pass(seconds(1));

    expect(calls).toEqual(["write", "arm", "patch old", "write", "enqueue"]);
    expect(world.hold()).toMatchObject({ armedFor: at(20), nodes: 1 });
  });

  it("that extends a hold while its start still marks records its one-shot, and the start does not overwrite it", async () => {
    const world = new Scenario();
    world.addNode("old");
    world.launch();
    const start = await world.deliver();
    while (start.waitsFor !== "patch old") await world.step(start);

    world.time = at(1);
    world.launch();
    await world.finish(await world.deliver());
    const extended = world.hold();
    await world.finish(start);

    expect(extended).toMatchObject({ expiresAt: at(21), armedFor: at(21) });
    expect(world.hold()).toMatchObject({ expiresAt: at(21), armedFor: at(21), nodes: 1 });
  });

  it("delivered twice, late or out of order changes nothing", async () => {
    const world = new Scenario();
    const first = world.launch();
    await world.pass(minutes(5));
    const second = world.launch();
    await world.pass(minutes(1));
    const before = structuredClone(world.holds.records.get("cluster"));

    world.sendEvent(first);
    world.sendEvent(second);
    await world.pass(minutes(1));
    world.sendEvent({ ...first, launchedAt: after(first.launchedAt, -minutes(3)) });
    await world.pass(minutes(1));

    expect(world.holds.records.get("cluster")).toEqual(before);
    await world.pass(minutes(17));
    expect([world.marks(), world.hold()]).toEqual([{}, undefined]);
    world.sendEvent(second);
    await world.pass(minutes(5));
    expect([world.marks(), world.hold()]).toEqual([{}, undefined]);
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

    expect(reported).toMatchObject([{ action: "rearm", because: "the hold was extended" }]);
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

  it("whose node has joined and whose hold time is over before its event arrives starts nothing", async () => {
    const world = new Scenario();
    world.sweepEvery = undefined;

    world.launch({ eventAfter: minutes(20) });
    await world.pass(minutes(25));

    expect([world.hold(), world.marks(), world.calls.includes("arm")]).toEqual([undefined, {}, false]);
  });

  it("waits for the initial delay without blocking, and counts from its launch time", async () => {
    const world = new Scenario({ initialDelay: minutes(2) });
    world.launch();

    await world.pass(seconds(119));
    const before = world.hold();
    await world.pass(seconds(1));

    expect(before).toBeUndefined();
    expect(world.hold()).toMatchObject({ startedAt: at(2), expiresAt: at(20) });
  });

  it("just after a forced release holds again, also when a function's clock is behind", async () => {
    const world = new Scenario();
    await world.releaseByHand({ force: true });
    await world.pass(seconds(1));
    world.launch();

    await world.finish(await world.deliver(world.queue.due(), -seconds(4)));

    expect(world.hold()).toMatchObject({ causedAt: after(noon, seconds(1)) });
  });

  it("dated in the future holds as if it were launched now, plus the seconds by which clocks may differ", async () => {
    const world = new Scenario();
    const { instance } = world.launch({ eventAfter: null });
    world.sendEvent({ instance, launchedAt: at(600) });

    await world.pass(seconds(1));

    expect(world.hold()).toMatchObject({ expiresAt: at(21) });
  });

  it("that EC2 does not know yet is retried until EC2 knows it", async () => {
    const world = new Scenario();
    const { instance } = world.launch();
    world.ec2.unlisted.add(instance);

    await world.pass(minutes(1));
    const before = world.hold();
    world.ec2.unlisted.delete(instance);
    await world.pass(minutes(1));

    expect(before).toBeUndefined();
    expect(world.hold()).toMatchObject({ expiresAt: at(20) });
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

  it("that EC2 never knows is retried for a limited time", async () => {
    const world = new Scenario();
    const { instance } = world.launch({ joinsAfter: null });
    world.ec2.unlisted.add(instance);

    await world.pass(minutes(20));

    expect([world.hold(), world.queue.messages, world.queue.deadLetters]).toEqual([undefined, [], []]);
  });

  it.each([
    ["an instance of another cluster or without Karpenter", {}, null],
    ["a NodePool that is left out", { nodePools: { only: [], except: ["batch"] } }, "batch"],
    ["a NodePool with an invalid name", { scope: "nodepool" } as const, "Bad_Pool"],
  ])("of %s starts nothing and gets no mark", async (_, rules, pool) => {
    const world = new Scenario(rules);
    world.addNode("old");
    world.launch({ pool });

    await world.pass(minutes(20));

    expect([world.hold(), world.marks(), world.history()]).toEqual([undefined, {}, []]);
  });

  it("of an instance that is not Karpenter's, found by the sweep on a node with Karpenter's labels, starts nothing", async () => {
    const world = new Scenario();
    world.launch({ pool: null, node: { pool: "default" } });

    await world.pass(minutes(20));

    expect([world.hold(), world.history()]).toEqual([undefined, []]);
  });

  it("of a node whose NodePool label is not a valid name, found by the sweep, starts nothing", async () => {
    const world = new Scenario({ scope: "nodepool" });
    world.launch({ eventAfter: null, node: { pool: "Bad_Pool" } });

    await world.pass(minutes(20));

    expect((await world.holds.all()).records).toEqual([]);
  });

  it("does not change nodes that are not Karpenter's", async () => {
    const world = new Scenario();
    world.addNode("plain", { pool: null });
    world.addNode("old");
    world.launch();

    await world.pass(minutes(5));

    expect(world.heldNodes()).toEqual(["node-1", "old"]);
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

  it("that joins after the last follow-up is marked by the sweep", async () => {
    const world = new Scenario();
    world.launch({ joinsAfter: minutes(14) });

    await world.pass(minutes(15));

    expect(world.heldNodes()).toEqual(["node-1"]);
  });

  it("that never joins is awaited for a limited time", async () => {
    const world = new Scenario();
    world.sweepEvery = undefined;
    world.launch({ joinsAfter: null });

    await world.pass(minutes(13));

    expect(world.queue.messages).toEqual([]);
    const sentence =
      "stopped waiting for pending nodes: another invocation has marked them, or the sweep will";
    expect(world.log.reported(sentence)).toHaveLength(1);
  });

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

    expect(world.history()).toMatchObject([{ id: holdId(1, at(1)), endedAt: at(21) }]);
    expect(world.marks()).toEqual({});
  });

  it("that joined minutes after its launch does not restart a finished hold", async () => {
    const world = new Scenario();
    world.launch({ joinsAfter: minutes(19) });

    await world.pass(minutes(60));

    expect(world.history()).toHaveLength(1);
    expect(world.marks()).toEqual({});
  });
});
