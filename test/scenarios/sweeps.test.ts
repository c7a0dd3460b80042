import { describe, expect, it } from "vitest";
import { minutes } from "../../lambda/core/duration.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { Scenario } from "../../simulator/scenario.ts";

const names = ["a", "b", "c"];

function threeNodes(rules: ConstructorParameters<typeof Scenario>[0] = {}): Scenario {
  const world = new Scenario(rules);
  for (const name of names) world.addNode(name);
  return world;
}

describe("a sweep", () => {
  it("removes no mark of a hold that starts during the sweep, at any call", async () => {
    for (let first = 0; first < 12; first++) {
      for (let second = 0; second < 16; second++) {
        const world = threeNodes();
        for (const { name } of world.nodes.all()) world.nodes.mark(name, holdId(0));
        world.nodes.edit("c", "labels", "karpenter-node-holder/hold", undefined);
        world.nodes.edit("c", "annotations", "karpenter.sh/do-not-disrupt", undefined);
        world.launch({ joinsAfter: null });
        const sweep = await world.sweep();
        for (let n = 0; n < first; n++) await world.step(sweep);
        const hold = await world.deliver();
        for (let n = 0; n < second; n++) await world.step(hold);
        const held = world.hold()?.id;
        const marked = held ? world.nodes.held(held) : [];

        await world.finish(sweep);
        const stillMarked = held ? world.nodes.held(held) : [];
        await world.finish(hold);

        expect(stillMarked, `${first} calls of the sweep, then ${second} of the hold`).toEqual(
          expect.arrayContaining([...marked]),
        );
        expect(world.heldNodes()).toEqual(names);
      }
    }
  });

  it("does not count a launch as ignored again that its event has counted", async () => {
    const world = threeNodes();
    await world.control({ do: "pause", for: "1h", reason: "Ada checks the nodes" });
    world.launch();

    await world.pass(minutes(30));

    expect(world.metrics.total("LaunchesIgnored")).toBe(1);
  });
});
