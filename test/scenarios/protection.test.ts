import { describe, expect, it } from "vitest";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import { Story } from "../support/story.ts";

function threeNodes(): Story {
  const story = new Story();
  for (const name of ["a", "b", "c"]) story.addNode(name);
  return story;
}

const told = (story: Story) => story.metrics.all("LaunchToProtectedMs");

describe("how long a launch took to protect the cluster", () => {
  it("is told once, when every node there was is marked, and by no later launch or node", async () => {
    const story = threeNodes();
    story.launch({ eventAfter: seconds(3) });
    await story.pass(minutes(10));
    story.launch();
    await story.pass(minutes(10));

    expect(told(story)).toEqual([seconds(3)]);
  });

  it("is told where no node was there to mark, and not again when the first one joins", async () => {
    const story = new Story();
    story.launch({ eventAfter: seconds(3) });
    await story.pass(minutes(10));

    expect([story.heldNodes(), told(story)]).toEqual([["node-1"], [seconds(3)]]);
  });

  it("is not told while a node is left unmarked, but by whoever marks it", async () => {
    const story = threeNodes();
    story.sweepEvery = undefined;
    story.launch({ joinsAfter: null });
    const hold = await story.deliver();
    while (hold.waitsFor !== "patch b") await story.step(hold);
    await story.step(hold, "refused");
    await story.finish(hold);
    const atOnce = told(story);
    await story.pass(minutes(2));

    expect([atOnce, told(story)]).toEqual([[], [seconds(15)]]);
  });

  it("is not told by a look that its time cut short, but by the next", async () => {
    const story = threeNodes();
    story.launch({ joinsAfter: null });
    const hold = await story.deliver();
    while (hold.waitsFor !== "patch b") await story.step(hold);
    story.time = new Date(story.time.getTime() + minutes(2));
    await story.finish(hold);
    const first = [story.heldNodes(), told(story)];
    await story.pass(seconds(1));

    expect(first).toEqual([["a", "b"], []]);
    expect([story.heldNodes(), told(story)]).toEqual([["a", "b", "c"], [minutes(2)]]);
  });

  it("counts from the first launch, also when a later one came before all nodes were marked", async () => {
    const story = threeNodes();
    story.sweepEvery = undefined;
    let isRefused = true;
    story.nodes.before = (call) => {
      if (isRefused && call.kind === "patch" && call.node === "b") throw new Error("refused");
    };
    story.launch({ joinsAfter: null });
    await story.pass(seconds(40));
    story.launch({ joinsAfter: null });
    await story.pass(seconds(2));
    isRefused = false;
    await story.pass(minutes(2));

    expect(story.hold()?.extensions).toBe(1);
    expect(told(story)).toEqual([seconds(50)]);
  });

  it.each(["hold", "sweep"] as const)("is told by the %s after a crash before the first mark", async (by) => {
    const story = threeNodes();
    story.sweepEvery = by === "sweep" ? minutes(5) : undefined;
    story.launch({ joinsAfter: null });
    const hold = await story.deliver();
    while (hold.waitsFor !== "list") await story.step(hold);
    hold.crash();
    await story.pass(minutes(15));

    expect(story.heldNodes()).toEqual(["a", "b", "c"]);
    expect(told(story)).toHaveLength(1);
    expect(told(story)[0]).toBeGreaterThanOrEqual(by === "sweep" ? minutes(5) : minutes(12));
  });

  it("is not told of a hold by hand, nor of one that an earlier version began", async () => {
    const story = threeNodes();
    await story.control({ do: "hold", for: "10m" });
    await story.pass(minutes(11));
    story.launch();
    const hold = await story.deliver();
    while (hold.waitsFor !== "list") await story.step(hold);
    hold.crash();
    const record = story.holds.records.get("cluster");
    if (!record?.hold) throw new Error("no hold began");
    const { unprotected: _, ...old } = record.hold;
    story.holds.records.set("cluster", { ...record, hold: old });
    await story.pass(minutes(15));

    expect(story.heldNodes()).toEqual(["a", "b", "c", "node-1"]);
    expect(told(story)).toEqual([]);
  });
});
