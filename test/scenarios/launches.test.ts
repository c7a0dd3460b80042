import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { holdId, noon } from "../support/fixed-clock.ts";
import { Story } from "../support/story.ts";

const at = (minute: number) => after(noon, minutes(minute));

describe("a launch", () => {
  it("holds the whole cluster and, once it has joined, the newcomer too, until its time is over", async () => {
    const story = new Story();
    story.addNode("old");

    story.launch({ joinsAfter: seconds(40) });
    await story.pass(seconds(1));
    const atOnce = story.heldNodes();
    await story.pass(minutes(2));
    const soon = story.heldNodes();
    await story.pass(minutes(17));
    const nearTheEnd = story.heldNodes();
    await story.pass(minutes(1));

    expect(atOnce).toEqual(["old"]);
    expect(soon).toEqual(["node-1", "old"]);
    expect(nearTheEnd).toEqual(["node-1", "old"]);
    expect(story.marks()).toEqual({});
    expect(story.history()).toMatchObject([
      { id: holdId(1), startedAt: noon, endedAt: at(20), nodes: 2, launches: 1 },
    ]);
  });

  it("needs no sweep when nothing goes wrong", async () => {
    const story = new Story();
    story.sweepEvery = undefined;
    story.addNode("old");

    story.launch({ joinsAfter: minutes(3) });
    await story.pass(minutes(4));
    const held = story.heldNodes();
    await story.pass(minutes(16));

    expect(held).toEqual(["node-1", "old"]);
    expect([story.marks(), story.hold()]).toEqual([{}, undefined]);
  });

  it("told twice, late or out of order changes nothing", async () => {
    const story = new Story();
    const first = story.launch();
    await story.pass(minutes(5));
    const second = story.launch();
    await story.pass(minutes(1));
    const before = structuredClone(story.holds.records.get("cluster"));

    story.queue.sendLaunch(first);
    story.queue.sendLaunch(second);
    await story.pass(minutes(1));
    story.queue.sendLaunch({ ...first, launchedAt: after(first.launchedAt, -minutes(3)) });
    await story.pass(minutes(1));

    expect(story.holds.records.get("cluster")).toEqual(before);
    await story.pass(minutes(17));
    expect([story.marks(), story.hold()]).toEqual([{}, undefined]);
    story.queue.sendLaunch(second);
    await story.pass(minutes(5));
    expect([story.marks(), story.hold()]).toEqual([{}, undefined]);
  });

  it("extends the hold; the one-shot of before releases nothing and is armed anew", async () => {
    const story = new Story();
    story.sweepEvery = undefined;
    story.addNode("old");
    story.launch();
    await story.pass(minutes(15));
    story.launch();

    await story.pass(minutes(5));
    const told = story.log.told("release decided");
    const afterTheOneShot = story.heldNodes();
    await story.pass(minutes(15));

    expect(told).toMatchObject([{ action: "rearm", because: "the hold was extended" }]);
    expect(afterTheOneShot).toEqual(["node-1", "node-2", "old"]);
    expect(story.marks()).toEqual({});
    expect(story.history()).toMatchObject([{ extensions: 1, launches: 2, endedAt: at(35) }]);
  });

  it("among a thousand in one hold costs one schedule", async () => {
    const story = new Story({ maxHold: 0 });
    story.sweepEvery = undefined;

    for (let n = 0; n < 1000; n++) {
      story.launch({ joinsAfter: null });
      if (n % 100 === 99) await story.pass(minutes(1));
    }

    expect(story.schedules.calls).toBe(1);
    expect(story.hold()).toMatchObject({ id: holdId(1) });
    expect(story.queue.deadLetters).toEqual([]);
  });

  it("whose node is already there and whose hold is over when its event comes starts nothing", async () => {
    const story = new Story();
    story.sweepEvery = undefined;

    story.launch({ eventAfter: minutes(20) });
    await story.pass(minutes(25));

    expect([story.hold(), story.marks(), story.schedules.calls]).toEqual([undefined, {}, 0]);
  });

  it("is put off by the initial delay without blocking, and counts from when it happened", async () => {
    const story = new Story({ initialDelay: minutes(2) });
    story.launch();

    await story.pass(seconds(119));
    const before = story.hold();
    await story.pass(seconds(1));

    expect(before).toBeUndefined();
    expect(story.hold()).toMatchObject({ startedAt: at(2), expiresAt: at(20) });
  });

  it("just after a release by force holds again, also where a function's clock is behind", async () => {
    const story = new Story();
    await story.releaseByHand({ force: true });
    await story.pass(seconds(1));
    story.launch();

    await story.finish(await story.deliver(story.queue.due(story.time), -seconds(4)));

    expect(story.hold()).toMatchObject({ causedAt: after(noon, seconds(1)) });
  });

  it("from the future holds no longer than one of now, but for the seconds by which clocks differ", async () => {
    const story = new Story();
    const { instance } = story.launch({ eventAfter: null });
    story.queue.sendLaunch({ instance, launchedAt: at(600) });

    await story.pass(seconds(1));

    expect(story.hold()).toMatchObject({ expiresAt: at(21) });
  });

  it("that the cloud does not know yet is looked up again until it does", async () => {
    const story = new Story();
    const { instance } = story.launch();
    story.instances.unknownYet.add(instance);

    await story.pass(minutes(1));
    const before = story.hold();
    story.instances.unknownYet.delete(instance);
    await story.pass(minutes(1));

    expect(before).toBeUndefined();
    expect(story.hold()).toMatchObject({ expiresAt: at(20) });
  });

  it("that the cloud never knows is waited for no longer after a while", async () => {
    const story = new Story();
    const { instance } = story.launch({ joinsAfter: null });
    story.instances.unknownYet.add(instance);

    await story.pass(minutes(20));

    expect([story.hold(), story.queue.messages, story.queue.deadLetters]).toEqual([undefined, [], []]);
  });

  it.each([
    ["another cluster's instance, or one of no Karpenter", {}, null],
    ["a NodePool that is left out", { nodePools: { only: [], except: ["batch"] } }, "batch"],
    ["a NodePool of a name that none can have", { scope: "nodepool" } as const, "Bad_Pool"],
  ])("of %s starts nothing and gets no mark", async (_, rules, pool) => {
    const story = new Story(rules);
    story.addNode("old");
    story.launch({ pool });

    await story.pass(minutes(20));

    expect([story.hold(), story.marks(), story.history()]).toEqual([undefined, {}, []]);
  });

  it("of a foreign instance, found by the sweep as a node that calls itself Karpenter's, starts nothing", async () => {
    const story = new Story();
    story.launch({ pool: null, node: { pool: "default" } });

    await story.pass(minutes(20));

    expect([story.hold(), story.history()]).toEqual([undefined, []]);
  });

  it("of a node whose label names a NodePool that none can be, found by the sweep, starts nothing", async () => {
    const story = new Story({ scope: "nodepool" });
    story.launch({ eventAfter: null, node: { pool: "Bad_Pool" } });

    await story.pass(minutes(20));

    expect(await story.holds.scopes()).toEqual([]);
  });

  it("leaves nodes that are not Karpenter's alone", async () => {
    const story = new Story();
    story.addNode("plain", { pool: null });
    story.addNode("old");
    story.launch();

    await story.pass(minutes(5));

    expect(story.heldNodes()).toEqual(["node-1", "old"]);
  });
});

describe("a newcomer", () => {
  it.each([seconds(5), minutes(1), minutes(4), minutes(9)])(
    "is marked when it joins, also after %i ms",
    async (delay) => {
      const story = new Story();
      story.sweepEvery = undefined;
      story.launch({ joinsAfter: delay });

      await story.pass(delay + minutes(2));

      expect(story.heldNodes()).toEqual(["node-1"]);
    },
  );

  it("that joins after everybody stopped waiting is marked by the sweep", async () => {
    const story = new Story();
    story.launch({ joinsAfter: minutes(14) });

    await story.pass(minutes(15));

    expect(story.heldNodes()).toEqual(["node-1"]);
  });

  it("that never joins ends its waiting", async () => {
    const story = new Story();
    story.sweepEvery = undefined;
    story.launch({ joinsAfter: null });

    await story.pass(minutes(13));

    expect(story.queue.messages).toEqual([]);
    const sentence = "pending nodes no longer awaited: marked by another look, or left to the sweep";
    expect(story.log.told(sentence)).toHaveLength(1);
  });

  it("that another message's look has marked is no reason for a warning when its own message gives up", async () => {
    const story = new Story();
    story.sweepEvery = undefined;
    story.launch({ joinsAfter: minutes(1) });
    await story.pass(seconds(1));
    story.launch({ joinsAfter: minutes(1) });

    await story.pass(minutes(13));

    expect(story.heldNodes()).toEqual(["node-1", "node-2"]);
    expect(story.queue.messages).toEqual([]);
    expect(story.log.lines.filter(({ level }) => level !== "info")).toEqual([]);
  });

  it("whose event was lost is found by the sweep, which holds from its launch on", async () => {
    const story = new Story();
    story.launch({ eventAfter: null });

    await story.pass(minutes(5));
    const hold = story.hold();
    await story.pass(minutes(15));

    expect(hold).toMatchObject({ startedAt: at(5), expiresAt: at(20) });
    expect(story.metrics.total("MissedLaunches")).toBe(1);
    expect([story.marks(), story.history().length]).toEqual([{}, 1]);
  });

  it("launched before the last launch on record starts nothing by the sweep, however late it joined", async () => {
    const story = new Story();
    story.launch({ joinsAfter: minutes(21), eventAfter: null });
    await story.pass(minutes(1));
    story.launch({ joinsAfter: seconds(30) });

    await story.pass(minutes(60));

    expect(story.history()).toMatchObject([{ id: holdId(1), endedAt: at(21) }]);
    expect(story.marks()).toEqual({});
  });

  it("that joined minutes after its launch makes no finished hold begin again", async () => {
    const story = new Story();
    story.launch({ joinsAfter: minutes(19) });

    await story.pass(minutes(60));

    expect(story.history()).toHaveLength(1);
    expect(story.marks()).toEqual({});
  });
});
