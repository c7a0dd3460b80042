import { describe, expect, it } from "vitest";
import { minutes } from "../../lambda/core/duration.ts";
import { until } from "../support/context.ts";
import { holdId } from "../support/fixed-clock.ts";
import { Story } from "../support/story.ts";

const names = ["a", "b", "c"];

function threeNodes(rules: ConstructorParameters<typeof Story>[0] = {}): Story {
  const story = new Story(rules);
  for (const name of names) story.addNode(name);
  return story;
}

describe("a sweep", () => {
  it("takes nothing from a hold that begins while it is at work, whenever it does", async () => {
    for (let first = 0; first < 12; first++) {
      for (let second = 0; second < 16; second++) {
        const story = threeNodes();
        await story.nodes.mark("cluster", holdId(0), until(new Date("9999-01-01")));
        story.nodes.edit("c", "labels", "karpenter-node-holder/hold", undefined);
        story.nodes.edit("c", "annotations", "karpenter.sh/do-not-disrupt", undefined);
        story.launch({ joinsAfter: null });
        const sweep = await story.sweep();
        for (let n = 0; n < first; n++) await story.step(sweep);
        const hold = await story.deliver();
        for (let n = 0; n < second; n++) await story.step(hold);
        const held = story.hold()?.id;
        const marked = held ? story.nodes.heldBy(held) : [];

        await story.finish(sweep);
        const stillMarked = held ? story.nodes.heldBy(held) : [];
        await story.finish(hold);

        expect(stillMarked, `${first} calls of the sweep, then ${second} of the hold`).toEqual(
          expect.arrayContaining([...marked]),
        );
        expect(story.heldNodes()).toEqual(names);
      }
    }
  });

  it("and a release at the same time close the hold once", async () => {
    for (let first = 0; first < 12; first++) {
      const story = threeNodes();
      story.launch({ joinsAfter: null });
      await story.pass(minutes(19));
      story.sweepEvery = undefined;
      story.time = new Date(story.time.getTime() + minutes(1));
      const [oneShot] = story.schedules.armed.values();
      if (!oneShot) throw new Error("nothing was armed");
      const release = await story.fire(oneShot);
      for (let n = 0; n < first; n++) await story.step(release);
      await story.finish(await story.sweep());
      await story.finish(release);

      expect([story.marks(), story.hold(), story.history().length]).toEqual([{}, undefined, 1]);
      expect(story.log.told("hold closed")).toHaveLength(1);
    }
  });

  it("counts no launch as ignored once more that its event told of already", async () => {
    const story = threeNodes();
    await story.control({ do: "pause", for: "1h", reason: "Ada looks after the nodes" });
    story.launch();

    await story.pass(minutes(30));

    expect(story.metrics.total("LaunchesIgnored")).toBe(1);
  });

  it("lets a hold of another setting of scope run its time, while the new one adopts its marks without a gap", async () => {
    const story = threeNodes();
    story.launch();
    await story.pass(minutes(2));

    story.setScope("nodepool");
    await story.pass(minutes(6));
    expect(story.heldNodes()).toEqual([...names, "node-1"]);
    story.launch();
    await story.pass(minutes(6));

    expect(story.hold("nodepool/default")).toMatchObject({ state: "held" });
    await story.pass(minutes(8));
    expect(story.hold("cluster")).toBeUndefined();
    expect(story.heldNodes()).toEqual([...names, "node-1", "node-2"]);
    for (const name of names) expect(story.nodes.nodes.get(name)?.history).toEqual([undefined, "true"]);
  });

  it("notes when it was done, and that it was not when a part of it failed", async () => {
    const story = threeNodes();
    await story.finish(await story.sweep());
    const noted = story.holds.sweptAt;
    story.time = new Date(story.time.getTime() + minutes(5));
    const sweep = await story.sweep();
    await story.step(sweep, "refused");
    await story.finish(sweep);

    expect(noted).toEqual(new Date(story.time.getTime() - minutes(5)));
    expect([sweep.state, story.holds.sweptAt]).toEqual(["failed", noted]);
  });
});
