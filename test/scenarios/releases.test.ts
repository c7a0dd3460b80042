import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { holdId, noon } from "../support/fixed-clock.ts";
import type { Invocation } from "../support/invocation.ts";
import { Story } from "../support/story.ts";

const at = (minute: number) => after(noon, minutes(minute));
const names = ["a", "b", "c"];

/** A cluster whose hold is due now, and its release about to begin. */
async function due(): Promise<{ story: Story; release: Invocation }> {
  const story = new Story();
  story.sweepEvery = undefined;
  for (const name of names) story.addNode(name);
  story.launch({ joinsAfter: null });
  await story.pass(seconds(20 * 60 - 1));
  story.time = at(20);
  const [oneShot] = story.schedules.armed.values();
  if (!oneShot) throw new Error("nothing was armed");
  return { story, release: await story.fire(oneShot) };
}

async function releaseCalls(): Promise<number> {
  const { story, release } = await due();
  await story.finish(release);
  return release.calls;
}
const moments = Array.from({ length: (await releaseCalls()) + 1 }, (_, n) => n);

describe("a launch while a release is under way", () => {
  it.each(moments)(
    "ends held, and no node still marked was ever without: after %i calls of it",
    async (calls) => {
      const { story, release } = await due();
      while (release.calls < calls && release.state === "resting") await story.step(release);
      const isFenced = story.hold()?.state !== "held";
      const stillMarked = story.heldNodes();

      story.launch({ joinsAfter: seconds(30) });
      await story.finish(await story.deliver());
      await story.finish(release);
      await story.pass(minutes(2));

      expect(story.hold()).toMatchObject({
        state: "held",
        id: isFenced ? holdId(2) : holdId(1),
        expiresAt: at(40),
      });
      expect(story.heldNodes()).toEqual([...names, "node-2"]);
      for (const name of stillMarked) {
        expect(story.nodes.nodes.get(name)?.history).toEqual([undefined, "true"]);
      }
      await story.pass(minutes(20));
      expect(story.marks()).toEqual({});
      expect(
        story
          .history()
          .map(({ id }) => id)
          .toSorted(),
      ).toEqual(isFenced ? [holdId(1), holdId(2)] : [holdId(1)]);
    },
  );

  it("whose two functions take turns at every call loses nothing, however they do", async () => {
    for (let first = 0; first < 12; first++) {
      for (let second = 0; second < 16; second++) {
        const { story, release } = await due();
        story.launch({ joinsAfter: seconds(30) });
        for (let n = 0; n < first; n++) await story.step(release);
        const hold = await story.deliver();
        for (let n = 0; n < second; n++) await story.step(hold);
        await story.finish(release);
        await story.finish(hold);

        await story.pass(minutes(2));

        expect(story.heldNodes(), `${first} calls of the release, then ${second} of the hold`).toEqual([
          ...names,
          "node-2",
        ]);
        await story.pass(minutes(20));
        expect(story.marks()).toEqual({});
      }
    }
  });
});

describe("whoever marks", () => {
  it("takes its marks off again when its hold ended meanwhile", async () => {
    const story = new Story();
    story.sweepEvery = undefined;
    for (const name of names) story.addNode(name);
    story.launch({ joinsAfter: null });
    const hold = await story.deliver();
    while (hold.waitsFor !== "patch a") await story.step(hold);

    await story.releaseByHand({ force: true, reason: "maintenance" });
    await story.finish(hold);

    expect([story.marks(), story.hold(), story.history().length]).toEqual([{}, undefined, 1]);
  });

  it("hands its marks to the present hold when another took its place", async () => {
    const story = new Story();
    story.sweepEvery = undefined;
    for (const name of names) story.addNode(name);
    story.launch({ joinsAfter: null });
    const slow = await story.deliver();
    while (slow.waitsFor !== "patch c") await story.step(slow);
    await story.releaseByHand({ force: true, reason: "maintenance" });
    story.time = after(story.time, seconds(1));
    story.launch({ joinsAfter: null });
    await story.finish(await story.deliver());

    await story.finish(slow);

    expect(story.marks()).toEqual({ a: holdId(2), b: holdId(2), c: holdId(2) });
    expect(story.heldNodes()).toEqual(names);
  });
});

describe("the cap", () => {
  /** A launch every five minutes. */
  async function stream(story: Story, forMinutes: number): Promise<void> {
    for (let minute = 0; minute < forMinutes; minute += 5) {
      story.launch();
      await story.pass(minutes(5));
    }
  }

  it("ends a constant stream of launches, the breather holds nothing, then launches hold again", async () => {
    const story = new Story();
    story.addNode("old");

    await stream(story, 120);
    const afterTheCap = [story.hold(), story.marks()];
    await stream(story, 10);
    const inTheBreather = [story.hold(), story.marks()];
    await stream(story, 5);

    expect(afterTheCap).toEqual([undefined, {}]);
    expect(inTheBreather).toEqual([undefined, {}]);
    expect(story.hold()).toMatchObject({ startedAt: at(130), expiresAt: at(150) });
    expect(story.history()).toMatchObject([
      { capped: true, endedAt: at(120), endedBecause: "the hold has reached its cap" },
    ]);
    expect(story.metrics.total("HoldsCapped")).toBe(1);
  });

  it("can be done without", async () => {
    const story = new Story({ maxHold: 0 });

    await stream(story, 300);

    expect(story.hold()).toMatchObject({ id: holdId(1) });
  });

  it("leaves a hold begun by hand in the breather alone", async () => {
    const story = new Story();
    story.addNode("old");
    await stream(story, 121);

    await story.control({ do: "hold", for: "30m", reason: "load test" });
    await story.pass(minutes(20));

    expect(story.heldNodes()).toContain("old");
  });
});
