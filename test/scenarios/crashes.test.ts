import { describe, expect, it } from "vitest";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import { until } from "../support/context.ts";
import { holdId } from "../support/fixed-clock.ts";
import { Story } from "../support/story.ts";

/** Three nodes and a launch whose event is about to be handled. */
function aboutToHold(): Story {
  const story = new Story();
  for (const name of ["a", "b", "c"]) story.addNode(name);
  story.launch({ joinsAfter: seconds(40) });
  return story;
}

/** The same cluster, held, a moment before the release. */
async function aboutToRelease(): Promise<Story> {
  const story = aboutToHold();
  await story.pass(seconds(19 * 60 + 59));
  return story;
}

/** How many calls the function makes when nothing goes wrong. */
async function callsOf(story: Story, name: "hold" | "release"): Promise<number> {
  let calls = 0;
  story.watch = (invocation) => {
    if (invocation.name === name) calls = Math.max(calls, invocation.calls);
  };
  await story.pass(seconds(1));
  return calls;
}

const holdCalls = await callsOf(aboutToHold(), "hold");
const releaseCalls = await callsOf(await aboutToRelease(), "release");
const each = (calls: number) => Array.from({ length: calls + 1 }, (_, n) => n);

describe("a crash of the hold function", () => {
  it("is tried after every single call there is", () => {
    expect(holdCalls).toBeGreaterThan(10);
  });

  describe.each(each(holdCalls))("after %i calls", (calls) => {
    it("is healed by the redelivery alone", async () => {
      const story = aboutToHold();
      story.sweepEvery = undefined;
      story.accident = { name: "hold", calls };

      await story.pass(minutes(13));
      const held = story.heldNodes();
      await story.pass(minutes(20));

      expect(held).toEqual(["a", "b", "c", "node-1"]);
      expect([story.marks(), story.hold(), story.history().length]).toEqual([{}, undefined, 1]);
    });

    it("is healed by one sweep alone, the event being lost", async () => {
      const story = aboutToHold();
      story.accident = { name: "hold", calls };
      await story.pass(seconds(1));
      story.queue.messages = [];

      await story.pass(minutes(5));
      const held = story.heldNodes();
      await story.pass(minutes(20));

      expect(held).toEqual(["a", "b", "c", "node-1"]);
      expect([story.marks(), story.hold(), story.history().length]).toEqual([{}, undefined, 1]);
    });
  });
});

describe("a crash of the release function", () => {
  it("is tried after every single call there is", () => {
    expect(releaseCalls).toBeGreaterThan(8);
  });

  describe.each(each(releaseCalls))("after %i calls", (calls) => {
    it("is healed by another try alone", async () => {
      const story = await aboutToRelease();
      story.sweepEvery = undefined;
      story.accident = { name: "release", calls };

      await story.pass(minutes(2));

      expect([story.marks(), story.hold(), story.history().length]).toEqual([{}, undefined, 1]);
    });

    it("is healed by one sweep alone", async () => {
      const story = await aboutToRelease();
      story.accident = { name: "release", calls };
      await story.pass(seconds(1));
      story.retries = [];

      await story.pass(minutes(5));

      expect([story.marks(), story.hold(), story.history().length]).toEqual([{}, undefined, 1]);
    });
  });
});

describe("a crash of the sweep", () => {
  it.each(each(20))("after %i calls is healed by the next sweep", async (calls) => {
    const story = aboutToHold();
    story.queue.messages = [];
    story.accident = { name: "sweep", calls };

    await story.pass(minutes(10));
    const held = story.heldNodes();
    await story.pass(minutes(20));

    expect(held).toEqual(["a", "b", "c", "node-1"]);
    expect([story.marks(), story.hold(), story.history().length]).toEqual([{}, undefined, 1]);
  });
});

describe("what is lost", () => {
  it("a lost one-shot is made up for by the sweep", async () => {
    const story = await aboutToRelease();
    story.schedules.armed.clear();

    await story.pass(minutes(1));

    expect([story.marks(), story.hold()]).toEqual([{}, undefined]);
  });

  it("a one-shot lost early is set again by the sweep", async () => {
    const story = aboutToHold();
    await story.pass(minutes(1));
    story.schedules.armed.clear();

    await story.pass(minutes(5));
    story.sweepEvery = undefined;
    await story.pass(minutes(14));

    expect([story.marks(), story.hold()]).toEqual([{}, undefined]);
  });

  it("a one-shot that fires twice releases once", async () => {
    const story = await aboutToRelease();
    const [oneShot] = story.schedules.armed.values();
    await story.pass(seconds(1));

    if (oneShot) await story.run(story.fire(oneShot));

    expect(story.log.told("release decided").at(-1)).toMatchObject({ because: "nothing is held" });
    expect(story.history()).toHaveLength(1);
  });

  it("a one-shot that fires a little early is armed anew under another name, so that it cannot be taken for done", async () => {
    const story = await aboutToRelease();
    story.sweepEvery = undefined;
    const [oneShot] = story.schedules.armed.values();
    if (oneShot) await story.run(story.fire(oneShot));
    const names = [...story.schedules.armed.values()].map(({ at }) => at);

    await story.pass(minutes(2));

    expect(names).not.toContainEqual(oneShot?.at);
    expect([story.marks(), story.hold()]).toEqual([{}, undefined]);
  });

  it("a mark left behind is taken off by the sweep, which tells of it", async () => {
    const story = new Story();
    story.addNode("a");
    await story.nodes.mark("cluster", holdId(0), until(new Date("9999-01-01")));

    await story.pass(minutes(5));

    expect(story.marks()).toEqual({});
    expect(story.nodes.nodes.get("a")?.annotations).toEqual({});
    expect(story.metrics.total("OrphansFound")).toBe(1);
  });
});
