import { describe, expect, it } from "vitest";
import type { Learned } from "../../lambda/core/auto/learned.ts";
import { after, type Duration, minutes, seconds } from "../../lambda/core/duration.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import { noon } from "../support/fixed-clock.ts";
import { Story } from "../support/story.ts";

const at = (minute: number) => after(noon, minutes(minute));

/** A cluster with `hold=auto`, whose launches have NodeClaims that are used as told. */
class AutoStory extends Story {
  constructor(about: ConstructorParameters<typeof Story>[0] = {}) {
    super({ hold: minutes(10), auto: { relaunchCost: minutes(10) }, ...about });
  }

  get learned(): Learned | undefined {
    return this.holds.records.get(wholeCluster)?.learned;
  }

  /** One node, used for the first time so long after its launch; null: never. */
  burst(usedAfter: Duration | null = seconds(40)): (usedAt: Date) => void {
    const { node: name, instance, launchedAt } = this.launch();
    const use = (lastPodEventAt?: Date) =>
      this.nodeClaims.add({
        name,
        instance,
        createdAt: launchedAt,
        ...(lastPodEventAt && { lastPodEventAt }),
      });
    use(usedAfter === null ? undefined : after(launchedAt, usedAfter));
    return use;
  }

  /** How many minutes each hold lasted, rounded up. */
  lasted(): readonly number[] {
    return this.history()
      .toSorted((a, b) => a.startedAt.getTime() - b.startedAt.getTime())
      .map(({ startedAt, endedAt }) => Math.ceil((endedAt.getTime() - startedAt.getTime()) / minutes(1)));
  }
}

describe("hold=auto", () => {
  it("waits as long as a relaunch is worth at first, and not at all for bursts that stay away", async () => {
    const story = new AutoStory();
    for (let i = 0; i < 3; i++) {
      story.burst();
      await story.pass(minutes(90));
    }

    expect(story.lasted()).toEqual([11, 1, 1]);
    expect(story.history().map(({ length }) => length?.because)).toEqual([
      "no burst was seen to end yet, so it waits as long as one relaunch is worth",
      "1 of the last burst stayed away for more than 10m, so waiting costs more than it saves",
      "2 of the last 2 bursts stayed away for more than 10m, so waiting costs more than it saves",
    ]);
  });

  it("holds for bursts that return soon, and learns that they were used while held", async () => {
    const story = new AutoStory();
    const use = story.burst();
    await story.pass(minutes(8));
    use(at(8));
    await story.pass(minutes(9));
    use(at(17));
    await story.pass(minutes(20));

    expect(story.lasted()).toEqual([27]);
    expect(story.learned?.gaps).toEqual([{ nodes: 1, atLeast: 0, atMost: minutes(9) }]);
  });

  it("releases nothing that boots, however short the hold, but for five minutes at most", async () => {
    const story = new AutoStory();
    story.burst();
    await story.pass(minutes(90));

    const use = story.burst(null);
    await story.pass(minutes(3));
    expect(story.heldNodes()).toContain("node-2");
    use(at(93));
    await story.pass(minutes(87));
    story.burst(null);
    await story.pass(minutes(90));

    expect(story.lasted()).toEqual([11, 3, 5]);
  });

  it("protects what boots for five minutes where use cannot be known", async () => {
    const story = new AutoStory();
    story.nodeClaims.unavailable = { unavailable: "Karpenter is older than v1.0" };
    for (let i = 0; i < 2; i++) {
      story.launch();
      await story.pass(minutes(90));
    }
    expect(story.lasted()).toEqual([10, 5]);
  });

  it("never holds longer than the cap, and learns nothing from a hold that was ended by it", async () => {
    const story = new AutoStory({ maxHold: minutes(20) });
    const use = story.burst();
    for (let minute = 1; minute < 30; minute++) {
      await story.pass(minutes(1));
      use(at(minute));
    }
    const { gaps = [] } = story.learned ?? {};
    await story.pass(minutes(60));
    story.burst();
    await story.pass(seconds(30));

    expect(story.lasted()).toEqual([20]);
    expect(story.learned?.gaps).toEqual(gaps);
    expect(story.hold()).toBeDefined();
  });

  it("takes a gap that a pause cut short for at least as long", async () => {
    const story = new AutoStory();
    story.burst();
    await story.pass(minutes(30));
    await story.control({ do: "pause", reason: "maintenance" });
    await story.pass(minutes(200));
    await story.control({ do: "resume" });
    story.burst();
    await story.pass(minutes(1));

    expect(story.learned?.gaps).toEqual([{ nodes: 1, atLeast: minutes(30) - seconds(40) }]);
  });

  it("learns nothing from a hold that was released by force while its burst went on", async () => {
    const story = new AutoStory();
    story.burst();
    await story.pass(minutes(2));
    await story.control({ do: "release", reason: "maintenance" });
    await story.pass(minutes(60));
    story.burst();
    await story.pass(minutes(1));

    expect(story.learned?.gaps).toEqual([]);
  });

  it("learns nothing across a time in which hold was a length", async () => {
    const story = new AutoStory();
    story.burst();
    await story.pass(minutes(90));
    const { auto } = story.rules;
    delete story.rules.auto;
    story.burst();
    await story.pass(minutes(90));
    if (auto) story.rules.auto = auto;
    story.burst();
    await story.pass(minutes(90));

    expect(story.learned?.gaps).toEqual([]);
  });

  it("counts a gap once, however often its launch is delivered, and learns from a launch that was missed", async () => {
    const story = new AutoStory();
    story.burst();
    await story.pass(minutes(90));
    const again = story.launch();
    await story.pass(seconds(10));
    story.queue.sendLaunch(again);
    await story.pass(minutes(60));
    story.launch({ eventAfter: null });
    await story.pass(minutes(30));

    // The use of the first burst was 40 s after its launch; the others were never seen to be used.
    expect(story.learned?.gaps.map(({ atLeast }) => Math.round(atLeast / minutes(1)))).toEqual([89, 60]);
  });

  it.each(["hold", "release"] as const)(
    "learns the same when the %s function crashes anywhere",
    async (name) => {
      const learnedWith = async (calls?: number) => {
        const story = new AutoStory();
        const use = story.burst();
        await story.pass(minutes(8));
        use(at(8));
        if (calls !== undefined) story.accident = { name, calls };
        await story.pass(minutes(60));
        if (calls !== undefined) story.accident = { name, calls };
        story.burst();
        await story.pass(minutes(60));
        return story.learned?.gaps;
      };
      const undisturbed = await learnedWith();
      expect(undisturbed).toHaveLength(1);
      for (let calls = 0; calls < 12; calls++)
        expect(await learnedWith(calls), `${calls}`).toEqual(undisturbed);
    },
  );
});
